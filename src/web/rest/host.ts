import { AppError } from "../../base/errors.ts";

/**
 * Throws `bad-request` for more than one Host header, or one with a space (RFC 9112 section 3.2): proxies might route by
 * another one than we read. Bun joins several with a comma and a space, equal ones too, and no host contains a space.
 */
export function requireOneHost(headers: Headers): void {
  if (headers.get("host")?.includes(" ") === true) {
    throw new AppError("bad-request", "The request must have exactly one valid Host header");
  }
}
