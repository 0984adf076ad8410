import type { Context, Session } from "../base/context.ts";
import { AppError } from "../base/errors.ts";

import { requestIdOf } from "./request-id.ts";

/** The part of Elysia's context that the handlers use. */
export interface Exchange {
  readonly request: Request;
  readonly set: { headers: Record<string, string | number>; status?: number | string };
}

/** The context of an authenticated request. Throws as `authenticate` does. */
export type Authenticate = (exchange: Exchange) => Promise<Context>;

/** What requests are authenticated by. */
export interface Credentials<One extends Session = Session> {
  readonly verify: (token: string) => Promise<One>;
  /** The session of a request's cookie; null without one. Rejects or throws if it is not valid. */
  readonly cookie: (request: Request) => Promise<One> | null;
}

/** Authenticates requests and marks the responses as not cacheable. */
export function authenticator(credentials: Credentials): Authenticate {
  return async ({ request, set }) => {
    const session = await authenticate(request, credentials);
    set.headers["cache-control"] = "no-store";
    return { ...session, requestId: requestIdOf(set.headers) };
  };
}

/**
 * Verifies the bearer token of a request (RFC 6750 section 2.1) or, without one, its cookie. Throws
 * `authentication-required` without either, and `invalid-token` for a malformed header or an invalid token. Credentials
 * of another scheme are none (RFC 6750 section 3.1): they may be those of a proxy.
 */
export async function authenticate<One extends Session>(
  request: Request,
  { verify, cookie }: Credentials<One>,
): Promise<One> {
  const header = request.headers.get("authorization");
  const token = /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1];
  if (token !== undefined) return verify(token);
  if (header === null || !/^bearer(?: |$)/i.test(header)) {
    const session = cookie(request);
    if (session === null) throw tokenMissing();
    return session;
  }
  const detail = "The Authorization header is malformed. Send it as Bearer <token>";
  throw new AppError("invalid-token", detail);
}

export function tokenMissing(): AppError {
  const detail = "Access token missing. Send the header Authorization: Bearer <token>";
  return new AppError("authentication-required", detail);
}
