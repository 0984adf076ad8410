import { AppError } from "../errors.ts";

const header = "Idempotency-Key";

/**
 * The key of a request that must be carried out once; null when it has none. The draft writes it as a
 * quoted string (draft-ietf-httpapi-idempotency-key-header-07, section 2.1), most clients without
 * quotes: both are taken. Throws `invalid-parameter` for one that cannot be a key.
 */
export function readIdempotencyKey(request: Request): string | null {
  const value = request.headers.get(header);
  if (value === null) return null;
  const key = /^"([^"\\]*)"$/.exec(value)?.[1] ?? value;
  if (/^[\u0021-\u007e]{1,255}$/.test(key)) return key;
  const detail = "1 to 255 visible ASCII characters";
  throw new AppError("invalid-parameter", `${header}: ${detail}`, {
    errors: [{ parameter: header, code: "invalid-parameter", detail }],
  });
}
