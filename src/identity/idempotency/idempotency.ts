import { defineTable, type Stored } from "../../db/table.ts";

/** Each used `Idempotency-Key` (IETF draft-07) and the result of its first request. */
export const idempotencyTable = defineTable(
  "idempotency",
  {
    /** The operation and the user: two users never share a key. */
    scope: "text: pseudonym",
    key: "text: pseudonym",
    /** HMAC-SHA256 of the request, to distinguish a retry from another request with the same key. */
    requestHash: "bytes: secret",
    /** The resource that the first request made. Retries render their response from it. */
    resourceId: "text: pseudonym",
    createdAt: "instant",
    expiresAt: "instant",
  },
  ["scope", "key"],
);

export interface IdempotencyRecord extends Stored<typeof idempotencyTable> {}
