import type { Verify } from "../../identity/auth/token.ts";
import type { Session } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";

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
