/** Why a webhook request was rejected. Shown to operators, never to the sender. */
export const rejectionReasons = [
  "missing-signature",
  "several-signatures",
  "malformed-signature",
  "wrong-signature",
  "missing-signed-value",
  "missing-timestamp",
  "stale-timestamp",
  "untrusted-key",
  "unsupported-scheme",
  "body-too-large",
  "too-many-items",
  "unsupported-encoding",
  "unknown-provider",
] as const;
