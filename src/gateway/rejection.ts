import { defineTable } from "../db/table.ts";

/** Why a delivery was refused; for operators, never for the sender. */
export const rejectionReasons = [
  "missing-signature",
  "several-signatures",
  "malformed-signature",
  "wrong-signature",
  "missing-timestamp",
  "stale-timestamp",
  "unsupported-scheme",
  "body-too-large",
  "unsupported-encoding",
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** A delivery that was refused, kept so that an operator can find out why. */
export interface Rejection {
  readonly id: `rej_${string}`;
  readonly provider: string;
  readonly createdAt: Date;
  readonly reason: RejectionReason;
  readonly address: string;
  readonly requestId: string;
  /** Request headers by lower-case name; the value is empty unless it is known to hold no secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** A rejection as stored: with what is needed to work out later why it did not verify. */
export interface StoredRejection extends Rejection {
  /** The signature headers as sent, by lower-case name. They did not verify. */
  readonly signatures: Readonly<Record<string, string>>;
  /** Null when larger than what is kept of a refused body. */
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
