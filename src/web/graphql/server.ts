import type { GraphQLSchema } from "graphql";
import { YogaServer } from "graphql-yoga";

import type { Context, Session, Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { authenticate } from "../rest/auth.ts";
import type { ErrorLog } from "../rest/error-log.ts";

import type { GraphqlContext, ServerContext } from "./context.ts";
import { documentCache, useDocuments } from "./documents.ts";
import { useExecution } from "./execution.ts";
import { useHttp } from "./http.ts";
import { logged, masked, useRequestErrors } from "./request-errors.ts";

interface ServerOptions {
  readonly schema: GraphQLSchema;
  readonly verify: Verify;
  readonly logError: ErrorLog;
  /** Whether the playground is served: if not, introspection is off too. */
  readonly playground: boolean;
}

/** Handles requests to `/graphql`, except for the playground. */
type Handler = (request: Request, context: ServerContext) => Promise<Response> | Response;

/**
 * GraphQL by graphql-yoga. The class is what `createYoga` wraps in an adapter for other servers, which
 * would only add an address of its own to each request.
 */
export function createHandler({ schema, verify, logError, playground }: ServerOptions): Handler {
  const server = new YogaServer<ServerContext, GraphqlContext>({
    schema,
    context: ({ request, requestId }) =>
      logged(contextFor(request, requestId, verify), requestId, logError),
    plugins: [
      useHttp(logError),
      useDocuments(schema, playground),
      useExecution(schema, logError),
      useRequestErrors(),
    ],
    parserAndValidationCache: documentCache(),
    maskedErrors: { maskError: (error) => masked(error, logError) },
    // Both are served by our own route; neither this page nor yoga's health check is reached.
    graphiql: false,
    landingPage: false,
    // No other site's pages are let in: there is no cookie to protect, but no need either.
    cors: false,
    batching: false,
    multipart: false,
    // Bounded where the body is read.
    maxRequestBodySize: false,
    // Errors are logged by us, with the request's id.
    logging: false,
  });
  return (request, context) => server.handle(request, { ...context, waitUntil });
}

/** Nothing of ours goes on after its answer. */
const waitUntil = () => {};

async function contextFor(
  request: Request,
  requestId: string,
  verify: Verify,
): Promise<GraphqlContext> {
  const session = await sessionOf(request, verify);
  const signedIn = (): Context => {
    if (session !== null) return { ...session, requestId };
    const detail = "Send an access token: Authorization: Bearer <token>";
    throw new AppError("authentication-required", detail);
  };
  return { requestId, signedIn };
}

/** Null for someone without a token; "Bearer" with none behind it is what a playground begins with. */
async function sessionOf(request: Request, verify: Verify): Promise<Session | null> {
  const header = request.headers.get("authorization");
  if (header === null || /^bearer\s*$/i.test(header)) return null;
  return authenticate(request, verify);
}
