import type { GraphQLSchema } from "graphql";
import { YogaServer } from "graphql-yoga";

import type { Context, Session } from "../../base/context.ts";
import { lazy } from "../../base/lazy.ts";
import { authenticate, type Credentials, tokenMissing } from "../auth.ts";
import type { ErrorLog } from "../error-log.ts";

import type { GraphqlContext, ServerContext, Work } from "./context.ts";
import { documentCache, useDocuments } from "./documents.ts";
import { useExecution } from "./execution.ts";
import { useHttp } from "./http.ts";
import { maskError, useRequestErrors } from "./request-errors.ts";

interface ServerOptions {
  readonly schema: GraphQLSchema;
  readonly credentials: Credentials;
  readonly logError: ErrorLog;
  /** Whether the playground is served: if not, introspection is off too. */
  readonly playground: boolean;
  readonly work: Work;
}

/** Handles requests to `/graphql`, except for the playground. */
type Handler = (
  request: Request,
  context: Pick<ServerContext, "requestId" | "address" | "countWrite">,
) => Promise<Response> | Response;

/**
 * Runs graphql-yoga with our plugins. `YogaServer` instead of `createYoga`: the latter adds an adapter
 * for other HTTP servers, which only costs time here.
 */
export function createHandler({
  schema,
  credentials,
  logError,
  playground,
  work,
}: ServerOptions): Handler {
  const server = new YogaServer<ServerContext, GraphqlContext>({
    schema,
    context: contextFor,
    plugins: [
      useHttp(logError),
      useDocuments(schema, playground),
      useExecution(schema, playground, logError),
      useRequestErrors(),
    ],
    parserAndValidationCache: documentCache(),
    maskedErrors: { maskError: (error) => maskError(error, logError) },
    // Our own route serves the playground.
    graphiql: false,
    landingPage: false,
    // `rest/cors.ts` handles CORS for all routes.
    cors: false,
    batching: false,
    multipart: false,
    // `http.ts` limits the body.
    maxRequestBodySize: false,
    // Errors are logged with the request's id by `logError`.
    logging: false,
  });
  return (request, { address, ...given }) => {
    const session = lazy(() => sessionOf(request, credentials));
    const admit = async (fields: number) => work.begin((await session()) ?? address, fields);
    return server.handle(request, { ...given, address, session, admit, waitUntil });
  };
}

/** No work continues after the response. */
const waitUntil = () => {};

async function contextFor(given: ServerContext): Promise<GraphqlContext> {
  const session = await given.session();
  const signedIn = (): Context => {
    if (session !== null) return { ...session, requestId: given.requestId };
    throw tokenMissing();
  };
  return { ...given, signedIn };
}

/** The playground's initial header is "Bearer" without one. */
async function sessionOf(request: Request, credentials: Credentials): Promise<Session | null> {
  const header = request.headers.get("authorization");
  if (header === null || /^bearer\s*$/i.test(header)) return credentials.cookie(request);
  return authenticate(request, credentials);
}
