import type { Static } from "@sinclair/typebox";

import type { schemeSchema } from "./scheme.schema.ts";
import { isWeak } from "./scheme.ts";

/** A scheme in a few words, such as `HMAC-SHA256`. */
export function schemeName(scheme: Static<typeof schemeSchema>): string {
  switch (scheme.kind) {
    case "hmac":
      return `HMAC-${scheme.algorithm.toUpperCase()}`;
    case "ed25519":
      return "Ed25519";
    case "ecdsa-p256":
      return "ECDSA P-256";
    case "rsa-pkcs1":
    case "rsa-pss":
      return `${scheme.kind === "rsa-pss" ? "RSA-PSS" : "RSA"}-${scheme.algorithm.toUpperCase()}`;
    case "jwt":
      return `JWT, ${scheme.algorithms.join(" or ")}${isWeak(scheme) ? " (weaker)" : ""}`;
    case "shared-secret":
      return "shared secret (weaker)";
    case "basic-auth":
      return "basic authentication (weaker)";
    case "url":
      return "secret in the URL (weakest)";
  }
}
