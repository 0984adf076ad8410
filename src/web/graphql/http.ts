import {
  getSSEProcessor,
  type GraphQLParams,
  isAsyncIterable,
  type Plugin,
  processRegularResult,
} from "graphql-yoga";

import { AppError } from "../../base/errors.ts";
import { acceptedOf } from "../accept.ts";
import { readBytes, requireUncompressed } from "../body.ts";
import type { ErrorLog } from "../error-log.ts";
import { jsonOf } from "../json-body.ts";
import { urlOf } from "../url.ts";

import type { GraphqlContext, ServerContext } from "./context.ts";
import { notAcceptable } from "./errors.ts";
import { limits } from "./limits.ts";
import { withErrorLog } from "./request-errors.ts";

/** The first one is for wildcards: every client understands it. */
const responseTypes = [
  "application/json",
  "application/graphql-response+json",
  "text/event-stream",
] as const;
const [, , streamType] = responseTypes;

/** Of JSON, variables with many keys take longest to parse: this many bytes as long as a field. */
const bytesOfField = 10;

/**
 * Parses requests and selects the media type of responses (GraphQL over HTTP). Stricter than
 * graphql-yoga: a POST must be JSON, its size is limited, `q` in Accept counts, and a request whose
 * response the client would not accept is not executed.
 */
export function useHttp(logError: ErrorLog): Plugin<GraphqlContext, ServerContext> {
  const stream = getSSEProcessor();
  return {
    onRequestParse({ request, serverContext, setRequestParser, endResponse }) {
      if (acceptedBy(request).length === 0) return endResponse(notAcceptableResponse());
      // graphql-yoga answers 405 to any other method.
      const { method } = request;
      const read = method === "GET" ? readQueryString : method === "POST" ? readBody : null;
      if (read === null) return;
      const { requestId, admit } = serverContext;
      const parse = async (sent: Request) => {
        const params = await read(sent, serverContext);
        // To parse and validate a character takes about as long as a field.
        await admit(typeof params.query === "string" ? params.query.length : 0);
        return params;
      };
      setRequestParser((sent) => withErrorLog(parse(sent), requestId, logError));
    },
    onSubscribe({ args: { contextValue } }) {
      // Check before the subscription starts: a rejected one would never be read or ended.
      if (!acceptedBy(contextValue.request).includes(streamType)) throw notAcceptable(streamType);
    },
    onResultProcess(process) {
      const type = acceptedBy(process.request).find((accepted) => accepted !== streamType);
      if (type !== undefined && !isAsyncIterable(process.result)) {
        process.setResultProcessor(processRegularResult, type);
      } else process.setResultProcessor(stream, streamType);
    },
  };
}

function readQueryString(request: Request): GraphQLParams {
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
 * Requires `application/json`. An HTML form on another site cannot send that type, and a script there
 * needs a CORS preflight, which fails: this prevents cross-site request forgery.
 */
async function readBody(
  request: Request,
  { address, admit }: ServerContext,
): Promise<GraphQLParams> {
  const { headers } = request;
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  if (type.trim() !== "application/json" || !isUtf8) {
    const detail = "Send the body as application/json in UTF-8";
    throw new AppError("unsupported-media-type", detail, { accept: "application/json" });
  }
  requireUncompressed(headers);
  const bytes = await readBytes(request, limits.maxBodyBytes, address);
  await admit(Math.floor(bytes.length / bytesOfField));
  const body = jsonOf(bytes);
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new AppError("bad-request", "The body must be a JSON object with the field query");
  }
  return withQuery(body);
}

/** A missing query is 400 for every media type. graphql-yoga would answer 200 to application/json. */
function withQuery(params: object): GraphQLParams {
  const { query }: { query?: unknown } = params;
  if (query === undefined || query === null || query === "") {
    throw new AppError("bad-request", "The request has no query. Send one in the field query.");
  }
  // Guarantee: graphql-yoga checks the type of each parameter before it uses it.
  return params as GraphQLParams;
}

function acceptedBy({ headers }: Request) {
  return acceptedOf(headers.get("accept"), responseTypes);
}

function notAcceptableResponse(): Response {
  const { message, extensions } = notAcceptable(responseTypes.join(" or "));
  const { http: _, ...publicExtensions } = extensions;
  return Response.json(
    { errors: [{ message, extensions: publicExtensions }] },
    { status: 406, headers: { accept: responseTypes.join(", ") } },
  );
}
