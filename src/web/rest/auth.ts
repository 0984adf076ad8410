import type { Context, Session, Verify } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";

import { requestIdOf } from "./request-id.ts";
import type { Exchange } from "./serve.ts";

/** The context of an authenticated request. Throws as `authenticate` does. */
export type Authenticated = (exchange: Exchange) => Promise<Context>;

/** Authenticates requests by their tokens, and forbids caches to keep the responses. */
export function authenticated(verify: Verify): Authenticated {
  return async ({ request, set }) => {
    const session = await authenticate(request, verify);
    set.headers["cache-control"] = "no-store";
    return { ...session, requestId: requestIdOf(set.headers) };
  };
}

/** In the API document: an operation that needs a token. */
export const bearer = [{ bearer: [] }];

/**
 * Who sent a request, by its bearer token (RFC 6750 section 2.1). Throws `authentication-required`
 * when there is none and `invalid-token` when it is not good.
 */
export function authenticate(request: Request, verify: Verify): Promise<Session> {
  const header = request.headers.get("authorization");
  const token = /^bearer +([^\s,]+)$/i.exec(header ?? "")?.[1];
  if (token !== undefined) return verify(token);
  const detail =
    header === null
      ? "Send an access token: Authorization: Bearer <token>"
      : "The Authorization header is not of the form: Bearer <token>";
  return Promise.reject(
    new AppError(header === null ? "authentication-required" : "invalid-token", detail),
  );
}
