import { readBytes, requireNoCoding } from "../http/body.ts";
import { authenticate } from "../http/auth.ts";
import { jsonOf } from "../http/json-body.ts";
import { headersOf, problems } from "../http/errors.ts";
import { urlOf } from "../http/url.ts";
import { AppError, isOurs } from "../errors.ts";
import type { Context, Session } from "../context.ts";

import { acceptedTypes, jsonTypeFor, jsonTypes } from "./accept.ts";
import type { GraphqlContext, GraphqlParts } from "./context.ts";
import { createEngine } from "./engine.ts";
import { extensionsOf, notAcceptable } from "./errors.ts";
import { fastPath } from "./fast-path.ts";
import { limits } from "./limits.ts";
import { loaders } from "./loaders.ts";
import { createServer } from "./yoga.ts";

/** Answers what comes to /graphql, but for the playground. */
export type Handler = (request: Request, requestId: string) => Promise<Response>;

/**
 * Checks a request's form, size and token, then hands it to the fast path or, if that does not take
 * it, to graphql-yoga. What is refused here is told as GraphQL tells errors, with its HTTP status.
 */
export function createHandler(parts: GraphqlParts): Handler {
  const { playground: introspection, compileAfterRuns } = parts;
  const engine = createEngine(parts.logFailure, { introspection, compileAfterRuns });
  const server = createServer(engine, parts.logFailure);
  const fast = parts.fastPath ? fastPath(engine) : null;

  return async (request, requestId) => {
    const accepted = acceptedTypes(request.headers.get("accept"));
    if (!canBeAnswered(accepted)) return refusedType();
    try {
      requireForm(request);
      const session = await sessionOf(request, parts);
      const graphql = contextFor(parts, session, requestId);
      if (request.method === "GET") return await server.fetch(ordered(request, null), { graphql });
      const parameters = jsonOf(await readBytes(request, limits.maxBodyBytes));
      requireQuery(parameters);
      const answer = fast?.(parameters, accepted, graphql) ?? null;
      return (
        (await answer) ??
        (await server.fetch(ordered(request, JSON.stringify(parameters)), { graphql }))
      );
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (isOurs(error)) parts.logFailure(error, requestId);
      return refusal(error, jsonTypeFor(accepted));
    }
  };

  /** The request for yoga, which takes the first media type it knows: so the best stands first. */
  function ordered(request: Request, body: string | null): Request {
    const headers = new Headers(request.headers);
    headers.set("accept", acceptedTypes(headers.get("accept")).join(", "));
    // Yoga compares it letter by letter.
    if (body !== null) headers.set("content-type", "application/json");
    const { method, signal } = request;
    return new Request(urlOf(request).href, { method, headers, signal, body });
  }
}

/**
 * Mutations by GET are refused by yoga. A POST must say that it is JSON: no form of another site's
 * page can, so a browser asks us first, and we say no (cross-site request forgery).
 */
function requireForm(request: Request): void {
  const { method, headers } = request;
  if (method !== "GET" && method !== "POST") {
    const allow = ["GET", "POST"];
    throw new AppError("method-not-allowed", "This address takes GET, POST", { allow });
  }
  if (method === "GET") {
    const query = urlOf(request).searchParams;
    requireJsonParameters(query);
    return requireQuery({ query: query.get("query") });
  }
  const [type = "", ...parameters] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith("charset="));
  const isUtf8 = charset === undefined || /^charset="?utf-8"?$/.test(charset);
  if (type.trim() !== "application/json" || !isUtf8) {
    const detail = "Send the body as application/json in UTF-8";
    throw new AppError("unsupported-media-type", detail, { accept: "application/json" });
  }
  requireNoCoding(headers);
}

function requireJsonParameters(query: URLSearchParams): void {
  for (const name of ["variables", "extensions"]) {
    try {
      jsonOf(Buffer.from(query.get(name) || "null"));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError("bad-request", `${name} is not well-formed JSON, at most 32 levels deep`);
    }
  }
}

/**
 * Without a query it is no request of GraphQL: 400 whatever is accepted, which yoga keeps to the newer
 * media type (GraphQL over HTTP, "application/json"). What is no text is left to yoga.
 */
function requireQuery(parameters: unknown): void {
  if (typeof parameters !== "object" || parameters === null || Array.isArray(parameters)) return;
  const { query }: { query?: unknown } = parameters;
  if (query === undefined || query === null || query === "") {
    throw new AppError("bad-request", "Send a query: there is none in the request");
  }
}

/** Null for someone without a token; "Bearer" with none behind it is what a playground begins with. */
async function sessionOf(request: Request, { verify }: GraphqlParts): Promise<Session | null> {
  const header = request.headers.get("authorization");
  if (header === null || /^bearer\s*$/i.test(header)) return null;
  return authenticate(request, verify);
}

function contextFor(
  { verbs, clock }: GraphqlParts,
  session: Session | null,
  requestId: string,
): GraphqlContext {
  const signedIn = (): Context => {
    if (session !== null) return { ...session, requestId };
    const detail = "Send an access token: Authorization: Bearer <token>";
    throw new AppError("authentication-required", detail);
  };
  return { verbs, clock, requestId, signedIn, load: loaders(verbs, signedIn) };
}

/** Told before a mutation is carried out whose answer could not be sent. */
function refusedType(): Response {
  const { message, extensions } = notAcceptable(answerTypes.join(" or "));
  const { http: _, ...shownExtensions } = extensions;
  return new Response(JSON.stringify({ errors: [{ message, extensions: shownExtensions }] }), {
    status: 406,
    headers: { "content-type": "application/json; charset=utf-8", accept: answerTypes.join(", ") },
  });
}

function canBeAnswered(accepted: readonly string[]): boolean {
  return accepted.some(
    (type) => ["*/*", "application/*", "text/*"].includes(type) || answerTypes.includes(type),
  );
}

const answerTypes: readonly string[] = [...jsonTypes, "text/event-stream"];

function refusal(error: AppError, type: string | null): Response {
  const body = { errors: [{ message: error.detail, extensions: extensionsOf(error) }] };
  const headers = new Headers(headersOf(error));
  headers.set("content-type", `${type ?? "application/json"}; charset=utf-8`);
  return new Response(JSON.stringify(body), { status: problems[error.code].status, headers });
}
