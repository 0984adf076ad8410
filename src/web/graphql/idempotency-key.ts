import { checkedIdempotencyKey } from "../../base/parameters.ts";

/** The argument of mutations that create something. */
export const idempotencyKeyArg = {
  description:
    "1 to 255 visible ASCII characters. A retry with the same key within 24 hours returns the first result.",
} as const;

/** Its value. Throws `invalid-parameter`. */
export const idempotencyKeyOf = (value: string | null | undefined): string | null =>
  checkedIdempotencyKey(value, "idempotencyKey");
