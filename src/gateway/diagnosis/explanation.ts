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
