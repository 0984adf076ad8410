import { type AnyElysia, Elysia, ValidationError } from "elysia";

import { AppError, isServerError } from "./base/errors.ts";
import { bookingRoutes } from "./booking/room.rest.ts";
import { consoleRest } from "./console/console.rest.ts";
import { eventRoutes } from "./events/room.rest.ts";
import { identityRoutes } from "./identity/room.rest.ts";
import { consoleHeader, sessionCookies } from "./identity/sessions/session-cookie.ts";
import { acknowledgementSchema } from "./inbound/model/webhook-request.ts";
import { inboundRoutes } from "./inbound/room.rest.ts";
import { mcpRest } from "./mcp/server/mcp.rest.ts";
import { operationRoutes } from "./operations/room.rest.ts";
import { outboundRoutes } from "./outbound/room.rest.ts";
import { personsRest } from "./persons/persons.rest.ts";
import type { Services } from "./services.ts";
import { authenticate, authenticator } from "./web/auth.ts";
import { type AddressOf, clientAddress } from "./web/client-address.ts";
import { errorLog } from "./web/error-log.ts";
import { problemResponse, rateLimitHeaders } from "./web/errors.ts";
import { graphqlRest } from "./web/graphql/graphql.rest.ts";
import { assignRequestId, requestIdOf } from "./web/request-id.ts";
import { apiPageRest } from "./web/rest/api-page.rest.ts";
import { compressFor } from "./web/rest/compress.ts";
import { cors } from "./web/rest/cors.ts";
import { docsRest } from "./web/rest/docs.rest.ts";
import { noPipelining, requireOneHost, setSecurityHeaders } from "./web/rest/hardening.ts";
import { healthRest, healthSchema, serviceStatusSchema } from "./web/rest/health.rest.ts";
import { homePage } from "./web/rest/home.ts";
import { type DeclaredRoute, requireKnownParameters } from "./web/rest/known-parameters.ts";
import { observeRequests } from "./web/rest/observe-requests.ts";
import { problemsRest } from "./web/rest/problems.rest.ts";
import type { Callers } from "./web/rest/route.ts";
import { allowedMethods } from "./web/rest/routes.ts";
import { requireSentPath, routesBySentPath } from "./web/rest/sent-path.ts";
import { pathOf } from "./web/url.ts";

/** Mounts all routes. Does not listen; the caller does. */
export function createApp(services: Services) {
  const { clock, makeId, log, metrics, tracer, config } = services;
  const { publicUrl, trustedProxyHops } = config;
  const cookies = sessionCookies({
    sessions: services.sessions,
    clock,
    publicUrl,
    trustedProxyHops,
  });
  const credentials = {
    verify: services.verify,
    cookie: (request: Request) => cookies.session(request),
  };
  const addressOf: AddressOf = (connection) => clientAddress(connection, trustedProxyHops);
  const callers: Callers = {
    authenticated: authenticator(credentials),
    addressOf,
    limit(ctx, kind, headers) {
      Object.assign(headers, rateLimitHeaders(services.requestLimits.count(ctx, kind)));
    },
    admit: (connection) => async (fields) => {
      const counted = authenticate(connection.request, credentials).catch(() =>
        addressOf(connection),
      );
      await services.work.begin(await counted, fields);
    },
  };
  const providers = () => services.registered().map(({ provider }) => provider.id);
  const logError = errorLog(log, clock);
  const signIn = { cookies, callers, credentials, logError, addressOf, publicUrl };
  const routes = (): readonly DeclaredRoute[] => app.routes;
  const crossOrigin = cors(config.corsOrigins ?? [], routes);
  // Elysia's router misreads paths with a Host of fewer than four characters unless `standardHostname` is false.
  const handler = { standardHostname: false };
  const app = new Elysia({ strictPath: true, handler, systemRouter: false })
    .wrap(observeRequests({ metrics: services.requests, tracer, routes }))
    .wrap(compressFor(consoleHeader))
    .wrap(noPipelining)
    .onRequest(({ request, set }) => {
      assignRequestId(request, set.headers, makeId, clock.now());
      setSecurityHeaders(set.headers);
      requireOneHost(request.headers);
      requireSentPath(request);
      return crossOrigin(request, set.headers);
    })
    .onBeforeHandle(requireKnownParameters(routes))
    .onError(({ code, error, request, set }) => {
      const requestId = requestIdOf(set.headers);
      const appError = toAppError(code, error, request, app);
      if (isServerError(appError)) logError(appError, requestId);
      return problemResponse(appError, requestId);
    })
    .use(
      healthRest({
        home: homePage({ playground: config.graphiql === "on", providers }),
        providers,
        metrics,
        unready: () => services.unready(),
      }),
    )
    .use(problemsRest())
    .use(inboundRoutes(services, callers, publicUrl))
    .use(identityRoutes({ ...services, ...signIn }, callers))
    .use(personsRest(services.persons, callers))
    .use(bookingRoutes(services, callers, clock))
    .use(eventRoutes(services, callers))
    .use(outboundRoutes(services, callers))
    .use(operationRoutes(services, callers))
    .use(
      graphqlRest({
        schema: async () => (await import("./graphql-schema.ts")).createSchema(services),
        credentials,
        logError,
        playground: config.graphiql === "on",
        addressOf,
        work: services.work,
        limit: callers.limit,
      }),
    )
    .use(
      mcpRest({
        services,
        signIn: services.agentSignIn,
        issuer: services.agentIssuer,
        publicUrl,
        corsOrigins: config.corsOrigins ?? [],
        addressOf,
      }),
    )
    .use(consoleRest({ issuer: services.oidc?.host ?? null, publicUrl }))
    .use(docsRest(async () => (await import("./mcp/tools/tools.ts")).tools, callers))
    .use(
      apiPageRest(async (): Promise<unknown> => {
        const [{ openApiDocument }, { webhooksOf }] = await Promise.all([
          import("./web/rest/openapi.ts"),
          import("./events/event-schemas.ts"),
        ]);
        const schemas = [acknowledgementSchema, healthSchema, serviceStatusSchema];
        return openApiDocument(app, schemas, webhooksOf(services.eventCatalogue()));
      }, clock),
    );
  app.config.serve = { routes: routesBySentPath(app.routes, (request) => app.fetch(request)) };
  return app;
}

/** The typed routes, for a client made with Elysia's Eden. */
export type App = ReturnType<typeof createApp>;

/** Converts any thrown value, and errors that the framework reports, to an `AppError`. */
function toAppError(code: unknown, error: unknown, request: Request, app: AnyElysia): AppError {
  if (error instanceof AppError) return error;
  if (code === "NOT_FOUND") {
    const allow = allowedMethods(app.routes, pathOf(request.url));
    if (allow.length === 0) return new AppError("not-found", "This path does not exist");
    const detail = `This path supports only ${allow.join(", ")}`;
    return new AppError("method-not-allowed", detail, { allow });
  }
  // Only responses are validated against schemas. Leave out the value: it must not reach a log or a client.
  const cause =
    error instanceof ValidationError
      ? new Error(`The response does not match its schema at ${error.valueError?.path || "/"}`)
      : error;
  return new AppError("internal", "An internal error occurred. Try again later.", { cause });
}
