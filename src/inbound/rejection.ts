import { defineTable } from "../db/table.ts";

import type { rejectionReasons } from "./rejection-reasons.ts";

export type RejectionReason = (typeof rejectionReasons)[number];

/** A rejected request, stored so that operators can find the cause. */
export interface Rejection {
  readonly id: `rej_${string}`;
  readonly provider: string;
  readonly createdAt: Date;
  readonly reason: RejectionReason;
  readonly address: string;
  readonly requestId: string;
  /** Request headers by lower-case name. The value is empty unless it is known to hold no secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** A rejection with the data needed to explain later why it did not verify. */
export interface StoredRejection extends Rejection {
  /**
   * What the signature is made of, as sent: headers by lower-case name and, where they are signed, `:method` and `:url`.
   * Empty for secrets that are sent themselves.
   */
  readonly signatures: Readonly<Record<string, string>>;
  /** Null if the body was too large to store. */
  readonly body: Uint8Array | null;
}

export const rejectionsTable = defineTable<StoredRejection>("rejections", {
  id: "text",
  provider: "text",
  createdAt: "instant",
  reason: "text",
  address: "text",
  requestId: "text",
  headers: "json",
  signatures: "json",
  bodyBytes: "integer",
  body: "bytes or null",
});
