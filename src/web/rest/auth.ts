import type { Context, Session, Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";

import { requestIdOf } from "./request-id.ts";
import type { Exchange } from "./serve.ts";

/** The context of an authenticated request. Throws as `authenticate` does. */
export type Authenticated = (exchange: Exchange) => Promise<Context>;

/** Authenticates requests by their bearer tokens and marks the responses as not cacheable. */
export function authenticated(verify: Verify): Authenticated {
  return async ({ request, set }) => {
    const session = await authenticate(request, verify);
    set.headers["cache-control"] = "no-store";
    return { ...session, requestId: requestIdOf(set.headers) };
  };
}

/** OpenAPI security requirement of operations that need a token. */
export const bearer = [{ bearer: [] }];

/**
 * Verifies the bearer token of a request (RFC 6750 section 2.1). Throws `authentication-required` without
 * an Authorization header, and `invalid-token` for a malformed header or an invalid token.
 */
export function authenticate(request: Request, verify: Verify): Promise<Session> {
  const header = request.headers.get("authorization");
  const token = /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1];
  if (token !== undefined) return verify(token);
  if (header === null) return Promise.reject(tokenMissing());
  const detail = "The Authorization header is malformed. Send it as Bearer <token>";
  return Promise.reject(new AppError("invalid-token", detail));
}

export function tokenMissing(): AppError {
  const detail = "Access token missing. Send the header Authorization: Bearer <token>";
  return new AppError("authentication-required", detail);
}
