import { Type } from "@sinclair/typebox";

import { AppError } from "../../base/errors.ts";
import { documented } from "./schema.ts";

const header = "Idempotency-Key";

/** The headers of an operation that `readIdempotencyKey` makes safe to try again. */
export const idempotencyHeaders = documented(
  Type.Object({
    "idempotency-key": Type.Optional(
      Type.String({
        pattern: "^[\\u0021-\\u007e]{1,255}$",
        // No example: the API page would fill it in, and send one key with every request.
        description:
          "Your own id for this request, such as a UUID: a retry with it is carried out once.",
      }),
    ),
  }),
);

/**
 * The key of a request that must be carried out once; null when it has none. The draft writes it as a
 * quoted string (draft-ietf-httpapi-idempotency-key-header-07, section 2.1), most clients without
 * quotes: both are taken. Throws `invalid-parameter` for one that cannot be a key.
 */
export function readIdempotencyKey(request: Request): string | null {
  const value = request.headers.get(header);
  if (value === null) return null;
  return checkedIdempotencyKey(/^"([^"\\]*)"$/.exec(value)?.[1] ?? value, header);
}

/** A key that was given under the name `parameter`, if any. Throws `invalid-parameter` for no key. */
export function checkedIdempotencyKey(
  key: string | null | undefined,
  parameter: string,
): string | null {
  if (key === null || key === undefined) return null;
  if (/^[\u0021-\u007e]{1,255}$/.test(key)) return key;
  const detail = "1 to 255 visible ASCII characters";
  throw new AppError("invalid-parameter", `${parameter}: ${detail}`, {
    errors: [{ parameter, code: "invalid-parameter", detail }],
  });
}
