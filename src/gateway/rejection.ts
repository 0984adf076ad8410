import type { Explanation } from "./diagnosis/explanation.ts";
import type { Provider } from "./providers/provider.ts";
import type { SignatureFault } from "./signatures/signature.ts";
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

/** A rejection with what was sent, and what is behind it. */
export interface ExplainedRejection extends Rejection {
  /** Names of the signature headers that were sent. Their values may be right for another body. */
  readonly signatureHeaders: readonly string[];
  /** The exact bytes received, as text where they are UTF-8; null when not kept. */
  readonly body: string | null;
  readonly bodyEncoding: "utf-8" | "base64";
  /** Null unless the body is JSON. */
  readonly bodyPretty: string | null;
  readonly explanation: Explanation;
}

/** What an explanation is made of: from a stored rejection, or from files. */
export interface RejectedDelivery {
  readonly reason: RejectionReason;
  /** Its signature headers, and of the others those that are known: not all are kept. */
  readonly headers: Headers;
  /** Null when the body was too large to keep, or is forgotten. */
  readonly bytes: Uint8Array | null;
  readonly bodyBytes: number;
  readonly receivedAtMs: number;
}

/** Why a delivery did not verify: for want of a right signature, or because it is of another scheme. */
export function reasonFor(
  { foreignHeaders = [] }: Pick<Provider, "foreignHeaders">,
  headers: Headers,
  fault: SignatureFault,
): RejectionReason {
  return foreignHeaders.some((name) => headers.has(name)) ? "unsupported-scheme" : fault;
}
