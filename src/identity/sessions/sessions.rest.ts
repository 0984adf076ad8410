import { Elysia } from "elysia";

import { requireNoKey } from "../../base/context.ts";
import { invalid } from "../../base/validation.ts";
import { authenticate, type Credentials, type Exchange } from "../../web/auth.ts";
import { readJson } from "../../web/json-body.ts";
import { requestIdOf } from "../../web/request-id.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { type Callers, operatorsOnly, routes } from "../../web/rest/route.ts";
import {
  type ConsoleCodes,
  consoleNameRule,
  namedActor,
  readConsoleName,
} from "../auth/console-codes.ts";

import type { SessionCookies } from "./session-cookie.ts";
import { sessionFilters } from "./session-filters.ts";
import {
  sessionPageSchema,
  sessionParams,
  signedOutSchema,
  signInSchema,
} from "./session.schema.ts";
import { type ConsoleSession, sessionSchema } from "./session.ts";
import type { Sessions } from "./sessions.ts";
import type { StoredTokens } from "./stored-tokens.ts";
import {
  agentTokenInputSchema,
  agentTokenSchema,
  apiKeyInputSchema,
  newApiKeySchema,
} from "./token.schema.ts";

interface Parts {
  readonly sessions: Sessions;
  readonly storedTokens: StoredTokens;
  readonly cookies: SessionCookies;
  readonly consoleCodes: ConsoleCodes;
  readonly credentials: Credentials;
  readonly callers: Callers;
}

/** Throws `validation-failed`. */
function readName(given: unknown): string {
  const name = typeof given === "string" ? readConsoleName(given) : null;
  if (name === null) throw invalid("/name", `Write ${consoleNameRule}`);
  return name;
}

/** The session of this browser, those of all operators, the tokens of agents, and API keys. */
export const sessionsRest = (parts: Parts) => {
  const { sessions, storedTokens, cookies, consoleCodes, callers } = parts;
  const { addressOf } = callers;
  const { route, list } = routes(callers, "Audit and sessions", operatorsOnly);
  const keys = routes(callers, "Authentication");

  /** Who signs in: with a code, with the token of the request, or with the session that gets a name. */
  async function credentials(request: Request, address: string) {
    if (request.headers.has("authorization")) {
      const { expiresAt, ...session } = await authenticate(request, parts.credentials);
      return { ...requireNoKey(session), endsAt: expiresAt };
    }
    const body = await readJson(request, address);
    const { code, name }: { code?: unknown; name?: unknown } = Object(body);
    const given = name === undefined || name === null ? null : readName(name);
    if (code === undefined && given !== null) {
      const found = await sessions.read(cookies.read(request) ?? "");
      const { actor: id, roles, expiresAt, createdAt: issuedAt } = found;
      return { actor: namedActor({ id, roles }, given), endsAt: expiresAt, issuedAt };
    }
    const actor = await consoleCodes.redeem(typeof code === "string" ? code : "");
    return { actor: namedActor(actor, given), endsAt: null };
  }

  function setCookie({ request, set }: Exchange, cookie: string | null, session?: ConsoleSession) {
    set.headers["cache-control"] = "no-store";
    set.headers["set-cookie"] = cookies.write(request, cookie, session);
  }

  return new Elysia({ name: "sessions" })
    .post(
      "/v1/auth/session",
      async (exchange): Promise<ConsoleSession> => {
        const { request, set } = exchange;
        set.headers["cache-control"] = "no-store";
        // Another site must not sign this browser in as somebody else.
        cookies.requireOwnSite(request);
        const address = addressOf(exchange);
        const { cookie, session } = await sessions.open({
          ...(await credentials(request, address)),
          address,
          userAgent: request.headers.get("user-agent") ?? "",
          requestId: requestIdOf(set.headers),
          replaced: cookies.read(request),
        });
        setCookie(exchange, cookie, session);
        return session;
      },
      {
        parse: "none",
        body: signInSchema,
        response: { 200: sessionSchema, ...problemResponses(401, 403, 413, 415, 422, 429) },
        detail: {
          operationId: "openSession",
          tags: ["Authentication"],
          security: [],
          summary: "Sign in to the console",
          description:
            "Stores a session in a cookie, with a one-time code of `skyhook console` or with the token of the request. For the console: needs its header `X-Skyhook-Console`.",
        },
      },
    )
    .get(
      "/v1/auth/session",
      async ({ request, set }): Promise<ConsoleSession> => {
        set.headers["cache-control"] = "no-store";
        return sessions.read(cookies.read(request) ?? "");
      },
      {
        response: { 200: sessionSchema, ...problemResponses(401) },
        detail: {
          operationId: "getSession",
          tags: ["Authentication"],
          security: [],
          summary: "Read the session of this browser",
        },
      },
    )
    .delete(
      "/v1/auth/session",
      async (exchange): Promise<{ readonly ended: boolean }> => {
        cookies.requireOwnSite(exchange.request);
        const cookie = cookies.read(exchange.request);
        const ended = cookie !== null && (await sessions.close(cookie));
        setCookie(exchange, null);
        return { ended };
      },
      {
        parse: "none",
        response: { 200: signedOutSchema, ...problemResponses(403) },
        detail: {
          operationId: "closeSession",
          tags: ["Authentication"],
          security: [],
          summary: "Sign out of the console",
        },
      },
    )
    .get(
      "/v1/sessions",
      ...list("listSessions", "List what gives access: sessions, tokens of agents, API keys", {
        description: "Newest first. Admins see all, operators the tokens and keys they made.",
        ids: "ses_",
        filters: sessionFilters,
        response: sessionPageSchema,
        serve: ({ ctx, page, filters }) => sessions.list(ctx, page, filters),
      }),
    )
    .post(
      "/v1/sessions",
      ...route("createAgentToken", "Make a token for an agent", {
        description:
          "The agent reads as an operator, and does what `allowed` names. An operator has at most 20. The token is shown only here.",
        body: agentTokenInputSchema,
        success: 201,
        response: agentTokenSchema,
        serve: ({ ctx, body, ...exchange }) =>
          storedTokens.createAgentToken(ctx, body, addressOf(exchange)),
      }),
    )
    .delete(
      "/v1/sessions/:id",
      ...route("revokeSession", "End a session, a token of an agent or an API key", {
        endsAccess: true,
        description:
          "Takes effect with the next request; a stream ends within a minute. Admins end any, operators the tokens and keys they made.",
        params: sessionParams,
        response: sessionSchema,
        problems: [404],
        serve: ({ ctx, params }) => sessions.revoke(ctx, params.id),
      }),
    )
    .get(
      "/v1/keys",
      ...keys.list("listKeys", "List API keys", {
        description: "Newest first: your own; for admins all.",
        ids: "ses_",
        filters: { actor: sessionFilters.actor },
        response: sessionPageSchema,
        problems: [403],
        serve: ({ ctx, page, filters }) => sessions.list(ctx, page, { ...filters, kind: "key" }),
      }),
    )
    .post(
      "/v1/keys",
      ...keys.route("createKey", "Make an API key", {
        description:
          "Requests with the key are yours, with the role of the key. You have at most 20. The key is shown only here: if the response is lost, revoke it and make another one. An API key cannot make keys.",
        body: apiKeyInputSchema,
        success: 201,
        location: ({ id }) => `/v1/keys/${id}`,
        response: newApiKeySchema,
        problems: [403],
        serve: ({ ctx, body, ...exchange }) =>
          storedTokens.createKey(ctx, body, addressOf(exchange)),
      }),
    )
    .get(
      "/v1/keys/:id",
      ...keys.route("getKey", "Read an API key", {
        description: "One of your own; for admins any.",
        params: sessionParams,
        response: sessionSchema,
        problems: [404],
        serve: ({ ctx, params }) => sessions.getKey(ctx, params.id),
      }),
    )
    .delete(
      "/v1/keys/:id",
      ...keys.route("revokeKey", "Revoke an API key", {
        endsAccess: true,
        description:
          "Takes effect with the next request; a stream ends within a minute. An API key ends itself; for admins any.",
        params: sessionParams,
        response: sessionSchema,
        problems: [403, 404],
        serve: ({ ctx, params }) => sessions.revokeKey(ctx, params.id),
      }),
    );
};
