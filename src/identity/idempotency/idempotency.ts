import { defineTable } from "../../db/table.ts";

/** A used `Idempotency-Key` (IETF draft-07) and the result of its first request. */
export interface IdempotencyRecord {
  /** The operation and the user: two users never share a key. */
  readonly scope: string;
  readonly key: string;
  /** HMAC-SHA256 of the request, to distinguish a retry from another request with the same key. */
  readonly requestHash: Uint8Array;
  /** The resource that the first request made. Retries render their response from it. */
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
