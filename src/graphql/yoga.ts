import { type DocumentNode, GraphQLError } from "graphql";
import { createYoga, type Plugin } from "graphql-yoga";

import { type AppError, type ErrorCode, isOurs } from "../errors.ts";
import { problems } from "../http/errors.ts";
import type { FailureLog } from "../http/failure-log.ts";

import { acceptedTypes } from "./accept.ts";
import type { GraphqlContext } from "./context.ts";
import type { Engine } from "./engine.ts";
import { appErrorOf, extensionsOf, notAcceptable, shown } from "./errors.ts";
import { limits } from "./limits.ts";

/** What the door hands over with a request. */
export interface ServerContext {
  readonly graphql: GraphqlContext;
}

/**
 * GraphQL over HTTP by graphql-yoga: parameters, media types, status codes, server-sent events. What
 * a query may do and what it does is the engine's.
 */
export function createServer(engine: Engine, logFailure: FailureLog) {
  return createYoga<ServerContext>({
    plugins: [engineOf(engine)],
    graphqlEndpoint: "/graphql",
    // Both are served by our own door; neither this one nor yoga's health check is reached.
    graphiql: false,
    landingPage: false,
    // No other site's pages are let in: there is no cookie to protect, but no need either.
    cors: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: limits.maxBodyBytes,
    parserAndValidationCache: false,
    // Errors are logged by us: those of a query by the engine, with the request's id.
    logging: false,
    maskedErrors: {
      maskError(error) {
        const report = (failure: AppError) => logFailure(failure, null);
        if (error instanceof GraphQLError) {
          const cleaned = shown(error, report);
          if (cleaned.path === undefined) asRefusal(cleaned);
          return cleaned;
        }
        const failure = appErrorOf(error);
        if (isOurs(failure)) report(failure);
        const extensions = extensionsOf(failure);
        return new GraphQLError(failure.detail, {
          extensions: { ...extensions, http: { status: problems[failure.code].status } },
        });
      },
    },
  });
}

/** Lets the engine do what yoga would do by itself. */
function engineOf(engine: Engine): Plugin<ServerContext, ServerContext> {
  const operationOf = ({ document, operationName }: Chosen) => {
    const operation = engine.operation(document, operationName ?? null);
    // Yoga refuses an operation that cannot be determined before it comes to this.
    if (operation === null) throw new Error("There is no such operation");
    return operation;
  };
  return {
    onParse({ setParseFn }) {
      setParseFn((query: string) => engine.parse(query));
    },
    onValidate({ params, setResult }) {
      setResult([...engine.validate(params.documentAST)]);
    },
    onExecute({ args, setExecuteFn }) {
      const { graphql } = args.contextValue;
      setExecuteFn(() => operationOf(args).run(graphql, args.variableValues ?? {}));
    },
    onSubscribe({ args, setSubscribeFn }) {
      const { graphql, request } = args.contextValue;
      // Before anything is begun that nobody would read, or end.
      if (!acceptsStream(request)) throw notAcceptable("text/event-stream");
      setSubscribeFn(() => operationOf(args).follow(graphql, args.variableValues ?? {}));
    },
    onExecutionResult({ result }) {
      if (result === undefined || !("errors" in result) || "data" in result) return;
      for (const error of result.errors ?? []) asRefusal(error);
    },
  };
}

function acceptsStream({ headers }: Request): boolean {
  const streams = ["text/event-stream", "text/*", "*/*"];
  return acceptedTypes(headers.get("accept")).some((type) => streams.includes(type));
}

/** The parts of an execution's arguments that choose its operation. */
interface Chosen {
  readonly document: DocumentNode;
  readonly operationName?: string | null;
}

/** Of an error that kept a request from being carried out: its code and HTTP status, if it has none. */
function asRefusal({ extensions }: GraphQLError): void {
  const { http, ...given } = extensions;
  const status = statusIn(http) ?? 400;
  Object.assign(extensions, {
    ...given,
    code:
      given["code"] === undefined || given["code"] === "BAD_REQUEST"
        ? codes[status]
        : given["code"],
    status: given["status"] ?? status,
    // `spec`: as GraphQL over HTTP has it, only the newer media type shows the status.
    http: http ?? { status, spec: true },
  });
}

/** Our words for what yoga itself refuses. */
const codes: Readonly<Record<number, ErrorCode>> = {
  400: "bad-request",
  405: "method-not-allowed",
  413: "body-too-large",
  415: "unsupported-media-type",
};

function statusIn(http: unknown): number | null {
  const isObject = typeof http === "object" && http !== null && "status" in http;
  return isObject && typeof http.status === "number" ? http.status : null;
}
