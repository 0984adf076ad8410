import type { BodyText } from "../../event/body-text.ts";
import type { Rejection, RejectionReason } from "../rejection.ts";

/** The causes of a rejection. If no cause is found, it is the reason of the rejection. */
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
  "url-changed",
  "stale-timestamp",
  "missing-signature",
  "several-signatures",
  "malformed-signature",
  "missing-signed-value",
  "missing-timestamp",
  "untrusted-key",
  "unsupported-scheme",
  "body-too-large",
  "unsupported-encoding",
  "no-secret",
  "body-not-kept",
  "unknown",
] as const;
type Cause = (typeof causes)[number];

/** Why a request was rejected, for operators. Contains no secret and no valid signature. */
export interface Explanation {
  readonly cause: Cause;
  /** What happened and what to do, in plain words. */
  readonly detail: string;
  /** What was tried without success, if no cause was found. `detail` says the same in one paragraph. */
  readonly checklist?: Checklist;
}

export interface Checklist {
  readonly finding: string;
  readonly ruledOut: readonly string[];
  readonly nextSteps: readonly string[];
}

/** A rejection with the received data and its explanation. */
export interface ExplainedRejection extends Rejection, BodyText {
  /** The names of the signature headers sent. Their values are left out: they may be valid for another body. */
  readonly signatureHeaders: readonly string[];
  /** The body as indented JSON. Null if it is not JSON or nested too deeply. */
  readonly bodyPretty: string | null;
  readonly explanation: Explanation;
}

/** The input of an explanation, from a stored rejection or from files. */
export interface RejectedDelivery {
  readonly reason: RejectionReason;
  readonly method: string;
  /** The URL as the provider knows it; empty if it was not stored. */
  readonly url: string;
  /** The signature headers, and those of the other headers that were stored. */
  readonly headers: Headers;
  /** Null if the body was too large to store, or was deleted by retention. */
  readonly bytes: Uint8Array | null;
  readonly bodyBytes: number;
  readonly receivedAtMs: number;
}
