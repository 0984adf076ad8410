import { YogaServer } from "graphql-yoga";

import type { Context, Session, Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { authenticate } from "../rest/auth.ts";

import type { GraphqlContext, GraphqlParts, Incoming } from "./context.ts";
import { documentCache, useDocuments } from "./documents.ts";
import { useExecution } from "./execution.ts";
import { useHttp } from "./http.ts";
import { loaders } from "./loaders.ts";
import { logged, masked, useRefusals } from "./refusals.ts";
import { schema } from "../../graphql-schema.ts";

/** Answers what comes to /graphql, but for the playground. */
export type Handler = (request: Request, incoming: Incoming) => Promise<Response> | Response;

/**
 * GraphQL by graphql-yoga. The class is what `createYoga` wraps in an adapter for other servers, which
 * would only add an address of its own to each request.
 */
export function createHandler(parts: GraphqlParts): Handler {
  const { logError } = parts;
  const server = new YogaServer<Incoming, GraphqlContext>({
    schema,
    context: ({ request, requestId }) =>
      logged(contextFor(parts, request, requestId), requestId, logError),
    plugins: [
      useHttp(logError),
      useDocuments(parts.playground),
      useExecution(logError),
      useRefusals(),
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
  return (request, incoming) => server.handle(request, { ...incoming, waitUntil });
}

/** Nothing of ours goes on after its answer. */
const waitUntil = () => {};

async function contextFor(
  { verbs, verify, clock }: GraphqlParts,
  request: Request,
  requestId: string,
): Promise<GraphqlContext> {
  const session = await sessionOf(request, verify);
  const signedIn = (): Context => {
    if (session !== null) return { ...session, requestId };
    const detail = "Send an access token: Authorization: Bearer <token>";
    throw new AppError("authentication-required", detail);
  };
  return { verbs, clock, requestId, signedIn, load: loaders(verbs, signedIn) };
}

/** Null for someone without a token; "Bearer" with none behind it is what a playground begins with. */
async function sessionOf(request: Request, verify: Verify): Promise<Session | null> {
  const header = request.headers.get("authorization");
  if (header === null || /^bearer\s*$/i.test(header)) return null;
  return authenticate(request, verify);
}
