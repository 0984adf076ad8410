import type { BodyText } from "../body-text.ts";
import type { Rejection, RejectionReason } from "../rejection.ts";

/** What is found to be behind a refusal. Where nothing more is found, it is the refusal's own reason. */
export const causes = [
  "verifies-now",
  "previous-secret",
  "trailing-newline-added",
  "trailing-newline-lost",
  "line-endings-changed",
  "body-reformatted",
  "hex-for-base64",
  "base64-for-hex",
  "upper-case-hex",
  "missing-prefix",
  "other-algorithm",
  "secret-white-space",
  "secret-encoding",
  "secret-of-another-provider",
  "stale-timestamp",
  "missing-signature",
  "several-signatures",
  "malformed-signature",
  "missing-timestamp",
  "unsupported-scheme",
  "body-too-large",
  "unsupported-encoding",
  "no-secret",
  "body-not-kept",
  "unknown",
] as const;
export type Cause = (typeof causes)[number];

/** Why a delivery was refused, for operators. Holds no secret, and no signature that would be right. */
export interface Explanation {
  readonly cause: Cause;
  /** One plain sentence that says what to do. */
  readonly detail: string;
}

/** A rejection with what was sent, and what is behind it. */
export interface ExplainedRejection extends Rejection, BodyText {
  /** Names of the signature headers that were sent. Their values may be right for another body. */
  readonly signatureHeaders: readonly string[];
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
