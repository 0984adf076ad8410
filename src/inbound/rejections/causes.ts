/** The causes of a rejection, in a few words for lists. If no cause is found, it is the reason of the rejection. */
export const causeTexts = {
  "verifies-now": "Verifies with the present secret",
  "previous-secret": "Signed with the previous secret",
  "trailing-newline-added": "A line break was added at the end",
  "trailing-newline-lost": "The line break at the end is lost",
  "line-endings-changed": "Line endings were changed",
  "body-reformatted": "The JSON was reformatted",
  "hex-for-base64": "Hex instead of base64",
  "base64-for-hex": "Base64 instead of hex",
  "upper-case-hex": "Upper-case hex digits",
  "missing-prefix": "The signature lacks its prefix",
  "other-algorithm": "Another algorithm",
  "secret-white-space": "White space around the secret",
  "secret-encoding": "Another encoding of the secret",
  "secret-of-another-provider": "Secret of another provider",
  "url-changed": "Another URL was signed",
  "stale-timestamp": "Late, or clocks differ",
  "missing-signature": "No secret at the sender",
  "several-signatures": "The header is sent twice",
  "malformed-signature": "Cut off or changed signature",
  "missing-signed-value": "A signed header is missing",
  "missing-timestamp": "The signed time is missing",
  "untrusted-key": "Key is not the service’s",
  "unsupported-scheme": "Another kind of webhook",
  "body-too-large": "Larger than the limit",
  "too-many-items": "More events than the limit",
  "unsupported-encoding": "The body is compressed",
  "unknown-provider": "No provider at this URL",
  "no-secret": "No secret is set here",
  "body-not-kept": "Unknown: the body is not stored",
  unknown: "Another secret, or changed body",
} as const;

export type Cause = keyof typeof causeTexts;

// Guarantee: the keys of this constant.
export const causes = Object.keys(causeTexts) as Cause[];
