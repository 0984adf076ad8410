import { Elysia } from "elysia";

import { requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isLoopback } from "../../base/loopback.ts";
import { mcpPath as path } from "../../identity/sessions/agent-sign-in.ts";
import { authenticate, type Exchange } from "../../web/auth.ts";
import { readBytes, requireUncompressed } from "../../web/body.ts";
import type { AddressOf, Connection } from "../../web/client-address.ts";
import { problemResponse } from "../../web/errors.ts";
import { requestIdOf } from "../../web/request-id.ts";
import { urlOf } from "../../web/url.ts";
import type { Agent, AgentServices } from "../tool.ts";

interface Parts {
  readonly services: AgentServices;
  /** Verifies a token for `/mcp`. Throws `invalid-token`. */
  readonly signIn: (token: string) => Promise<Omit<Agent, "client" | "requestId">>;
  /** Whose tokens are accepted besides Skyhook's; null without one. */
  readonly issuer: string | null;
  readonly publicUrl: string | null;
  readonly corsOrigins: readonly string[];
  readonly addressOf: AddressOf;
}

const metadataPath = "/.well-known/oauth-protected-resource";
const maxBodyBytes = 65_536;

/** The Model Context Protocol over streamable HTTP. Its library is loaded at the first request. */
export const mcpRest = (parts: Parts) => {
  const { services, signIn, issuer, publicUrl, corsOrigins, addressOf } = parts;
  // An invalid Host header makes the URL unreadable.
  const baseOf = (request: Request) =>
    publicUrl ?? (URL.parse(request.url) ?? urlOf(request)).origin;

  /** RFC 9728, section 2. */
  const metadata = ({ request, set }: Exchange) => {
    set.headers["cache-control"] = "max-age=300";
    return {
      resource: `${baseOf(request)}${path}`,
      resource_name: "Skyhook",
      resource_documentation: `${baseOf(request)}/docs/agents`,
      bearer_methods_supported: ["header"],
      ...(issuer !== null && { authorization_servers: [issuer] }),
    };
  };

  /** Other sites must not use a server that only their visitor's browser reaches (DNS rebinding). */
  function requireKnownOrigin(request: Request): void {
    const origin = request.headers.get("origin");
    if (origin === null || origin === publicUrl || corsOrigins.includes(origin)) return;
    // After DNS rebinding, the origin is still the attacker's host name.
    if (URL.canParse(origin) && isLoopback(origin)) return;
    const detail = "This origin may not use /mcp. List it in CORS_ORIGINS.";
    throw new AppError("cross-site-request", detail);
  }

  async function answer(exchange: Exchange & Connection): Promise<Response> {
    const { request, set } = exchange;
    requireKnownOrigin(request);
    const requestId = requestIdOf(set.headers);
    const session = await authenticate(request, { verify: signIn, cookie: () => null });
    const agent = { ...session, requestId };
    requireOperator(agent);
    requireUncompressed(request.headers);
    const body = await readBytes(request, maxBodyBytes, addressOf(exchange));
    await services.calls.begin(agent);
    // Many messages in one body would share a turn of the event loop. The protocol has had no batches since 2025-06-18.
    if (new TextDecoder().decode(body).trimStart().startsWith("[")) return batchRejected();
    const { answerAgent } = await import("./server.ts");
    const { method, headers } = request;
    const init = { method, headers, ...(method === "POST" && { body }) };
    return answerAgent(services, agent, new Request(request.url, init));
  }

  const hidden = { detail: { hide: true } } as const;
  return new Elysia({ name: "mcp" })
    .get(metadataPath, metadata, hidden)
    .get(metadataPath + path, metadata, hidden)
    .all(
      path,
      async (exchange) => {
        const { request, set } = exchange;
        set.headers["cache-control"] = "no-store";
        try {
          return await answer(exchange);
        } catch (error) {
          return refusal(error, requestIdOf(set.headers), baseOf(request));
        }
      },
      { parse: "none", ...hidden },
    );
};

const batchRejected = (): Response => {
  const message = "Batches are not supported. Send each message in a request of its own.";
  const error = { code: -32_600, message };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 });
};

/** The response to a client without a valid token, with a link to where it gets one (RFC 9728, section 5.1). Throws other errors. */
function refusal(error: unknown, requestId: string, base: string): Response {
  const isToken =
    error instanceof AppError && /^(?:authentication-required|invalid-token)$/.test(error.code);
  if (!isToken) throw error;
  const response = problemResponse(error, requestId);
  const challenge = response.headers.get("www-authenticate") ?? "Bearer";
  const separator = challenge === "Bearer" ? " " : ", ";
  const link = `resource_metadata="${base}${metadataPath}${path}"`;
  response.headers.set("www-authenticate", `${challenge}${separator}${link}`);
  return response;
}
