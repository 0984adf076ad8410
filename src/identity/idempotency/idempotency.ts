import { defineTable } from "../../db/table.ts";

/** The first answer to a request that carried an `Idempotency-Key` (IETF draft-07). */
export interface IdempotencyRecord {
  /** Whose key it is, for which operation: two users never share one. */
  readonly scope: string;
  readonly key: string;
  /** HMAC-SHA256 of the request, to tell a retry from another request under the same key. */
  readonly requestHash: Uint8Array;
  /** What the first request made; the answer is rendered from it again. */
  readonly resourceId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export const idempotencyTable = defineTable<IdempotencyRecord>("idempotency", {
  scope: "text",
  key: "text",
  requestHash: "bytes",
  resourceId: "text",
  createdAt: "instant",
  expiresAt: "instant",
});
