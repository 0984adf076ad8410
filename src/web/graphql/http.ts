import {
  getSSEProcessor,
  type GraphQLParams,
  isAsyncIterable,
  type Plugin,
  processRegularResult,
} from "graphql-yoga";

import { AppError } from "../../base/errors.ts";
import { readBytes, requireUncompressed } from "../rest/body.ts";
import type { ErrorLog } from "../rest/error-log.ts";
import { jsonOf } from "../rest/json-body.ts";
import { urlOf } from "../rest/url.ts";

import { acceptedTypes, jsonTypeFor, jsonTypes } from "./accept.ts";
import type { GraphqlContext, ServerContext } from "./context.ts";
import { notAcceptable } from "./errors.ts";
import { limits } from "./limits.ts";
import { logged } from "./request-errors.ts";

/**
 * Reads requests and chooses the form of answers, as GraphQL over HTTP has it, and stricter than yoga:
 * a POST says that it is JSON, sizes are bounded, `q` in Accept counts, and what could not be answered
 * is not carried out.
 */
export function useHttp(logError: ErrorLog): Plugin<GraphqlContext, ServerContext> {
  const stream = getSSEProcessor();
  return {
    onRequestParse({ request, serverContext, setRequestParser, endResponse }) {
      const accepted = acceptedTypes(request.headers.get("accept"));
      if (!accepted.some(isAnswerType)) return endResponse(refusedType());
      // Other methods are refused by yoga.
      if (request.method === "GET") setRequestParser(readAddress);
      if (request.method === "POST") {
        const { requestId, address } = serverContext;
        setRequestParser((post) => logged(readBody(post, address), requestId, logError));
      }
    },
    onSubscribe({ args: { contextValue } }) {
      // Before anything is begun that nobody would read, or end.
      const accepted = acceptedTypes(contextValue.request.headers.get("accept"));
      if (!accepted.some(isStreamType)) throw notAcceptable(streamType);
    },
    onResultProcess(process) {
      const type = jsonTypeFor(acceptedTypes(process.request.headers.get("accept")));
      if (type !== null && !isAsyncIterable(process.result)) {
        process.setResultProcessor(processRegularResult, type);
      } else process.setResultProcessor(stream, streamType);
    },
  };
}

function readAddress(request: Request): GraphQLParams {
  const { searchParams } = urlOf(request);
  const json = (name: string): unknown => {
    const text = searchParams.get(name);
    if (text === null || text === "") return undefined;
    try {
      return jsonOf(Buffer.from(text));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError("bad-request", `${name} is not well-formed JSON, at most 32 levels deep`);
    }
  };
  return withQuery({
    query: searchParams.get("query"),
    operationName: searchParams.get("operationName") || undefined,
    variables: json("variables"),
    extensions: json("extensions"),
  });
}

/**
 * A POST must say that it is JSON: no form of another site's page can, so a browser asks us first, and
 * we say no (cross-site request forgery).
 */
async function readBody(request: Request, address: string): Promise<GraphQLParams> {
  const { headers } = request;
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  if (type.trim() !== "application/json" || !isUtf8) {
    const detail = "Send the body as application/json in UTF-8";
    throw new AppError("unsupported-media-type", detail, { accept: "application/json" });
  }
  requireUncompressed(headers);
  const body = jsonOf(await readBytes(request, limits.maxBodyBytes, address));
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new AppError("bad-request", "Send one object with a query");
  }
  return withQuery(body);
}

/** Without a query it is no request of GraphQL: 400 whatever is accepted, which yoga keeps to the newer type. */
function withQuery(params: object): GraphQLParams {
  const { query }: { query?: unknown } = params;
  if (query === undefined || query === null || query === "") {
    throw new AppError("bad-request", "Send a query: there is none in the request");
  }
  // Guarantee: yoga checks the type of each parameter before it is used.
  return params as GraphQLParams;
}

const streamType = "text/event-stream";
const answerTypes: readonly string[] = [...jsonTypes, streamType];

function isAnswerType(type: string): boolean {
  return ["*/*", "application/*", "text/*"].includes(type) || answerTypes.includes(type);
}

function isStreamType(type: string): boolean {
  return ["*/*", "text/*", streamType].includes(type);
}

function refusedType(): Response {
  const { message, extensions } = notAcceptable(answerTypes.join(" or "));
  const { http: _, ...shownExtensions } = extensions;
  return Response.json(
    { errors: [{ message, extensions: shownExtensions }] },
    { status: 406, headers: { accept: answerTypes.join(", ") } },
  );
}
