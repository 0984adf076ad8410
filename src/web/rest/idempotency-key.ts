import { Type } from "@sinclair/typebox";

import { checkedIdempotencyKey } from "../../base/parameters.ts";
import { documented } from "../schema.ts";

const header = "Idempotency-Key";

/** The header schema of an operation that calls `readIdempotencyKey`. */
export const idempotencyHeaders = documented(
  Type.Object({
    "idempotency-key": Type.Optional(
      Type.String({
        pattern: "^[\\u0021-\\u007e]{1,255}$",
        // No example: the API reference page would prefill it and send the same key with every request.
        description:
          "Your id for this request, such as a UUID. Retries with the same key return the original response.",
      }),
    ),
  }),
);

/**
 * Reads the Idempotency-Key header; null if it is missing. Accepts the key as a quoted string
 * (draft-ietf-httpapi-idempotency-key-header-07, section 2.1) and without quotes, as most clients send it.
 * Throws `invalid-parameter` for an invalid key.
 */
export function readIdempotencyKey(request: Request): string | null {
  const value = request.headers.get(header);
  if (value === null) return null;
  return checkedIdempotencyKey(/^"([^"\\]*)"$/.exec(value)?.[1] ?? value, header);
}
