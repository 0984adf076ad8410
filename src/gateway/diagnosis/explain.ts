import { bodyAlterations, secretAlterations } from "./alterations.ts";
import { claimedMacs, type ClaimedMac, claimedSeconds, type Oddity } from "./claimed-mac.ts";
import { compactJson } from "../signatures/compact-json.ts";
import type { Explanation, RejectedDelivery } from "./explanation.ts";
import type { Provider } from "../providers/provider.ts";
import { advice, formOf } from "./rejection-advice.ts";
import type { RejectionReason } from "../rejection.ts";
import {
  type Secrets,
  type SignatureScheme,
  type TimedScheme,
  verifier,
} from "../signatures/signature.ts";

/** Whose delivery it was, and the secrets there are. */
export interface Known {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** Those of the other providers, with the names that people call them by. */
  readonly others: readonly { readonly displayName: string; readonly secrets: Secrets }[];
}

/**
 * Why a delivery was rejected, as far as trying what commonly goes wrong can tell, one change at a time.
 * Pure. For operators only, who may know more than the sender; tells no secret and no right signature.
 */
export function explain(known: Known, rejected: RejectedDelivery): Explanation {
  const { provider, secrets } = known;
  const { reason, headers, bytes, receivedAtMs } = rejected;
  if (!signatureFaults.includes(reason)) return plain(reason, provider, rejected);
  if (secrets === null) {
    return {
      cause: "no-secret",
      detail: `${provider.displayName} has no secret now, so nothing can be tried: set it, then check again`,
    };
  }
  if (bytes === null) {
    return {
      cause: "body-not-kept",
      detail: `The body of ${rejected.bodyBytes} bytes is not here: it was too large to keep, or is forgotten by now. Have it sent again, or run \`skyhook verify\` with the bytes`,
    };
  }
  const verdict = verifier(provider.signature, secrets)({ headers, bytes, receivedAtMs });
  if ("verified" in verdict) return verifiesNow(verdict.verified.signedWith);
  const { signature: scheme } = provider;
  if (verdict.rejection === "stale-timestamp" && scheme.signed === "timestamp-dot-raw") {
    return stale(scheme, headers, receivedAtMs);
  }
  return (
    search(known, secrets, headers, bytes) ??
    (reason === "wrong-signature"
      ? { cause: "unknown", detail: ruledOut(known) }
      : plain(reason, provider, rejected))
  );
}

/** What is left when nothing that was tried makes it verify, and what was tried. */
function ruledOut({ others }: Known): string {
  const tried = [
    "a line break at the end of the body and other line breaks in it",
    "its JSON printed anew in the usual ways",
    "another algorithm or form of the signature",
    "white space around the secret or another encoding of it",
    ...(others.length > 0 ? ["the secrets of the other providers"] : []),
  ];
  return `Signed with another secret, or the body was changed on the way. Ruled out: ${tried.join("; ")}. Compare the secret with the one at the provider, and look for a proxy, a parser or an editor that changes bodies`;
}

/** Reasons behind which there may be more. */
const signatureFaults: readonly RejectionReason[] = [
  "wrong-signature",
  "malformed-signature",
  "stale-timestamp",
];

/** What the reason alone says. */
function plain(
  reason: RejectionReason,
  provider: Provider,
  rejected: RejectedDelivery,
): Explanation {
  const text = advice(reason, provider, rejected);
  const cause = reason === "wrong-signature" ? "unknown" : reason;
  return { cause, detail: text.charAt(0).toUpperCase() + text.slice(1) };
}

function verifiesNow(role: keyof Secrets): Explanation {
  if (role === "current") {
    return {
      cause: "verifies-now",
      detail:
        "It verifies with what is configured now, so the secret or the program was changed after it came: have the provider send it again",
    };
  }
  return {
    cause: "previous-secret",
    detail:
      "It verifies with the previous secret, which is accepted now: have the provider send it again, and give it the current secret",
  };
}

function stale(scheme: TimedScheme, headers: Headers, receivedAtMs: number): Explanation {
  const header = scheme.headers.map((name) => headers.get(name)).find((value) => value !== null);
  const offSeconds = Math.round((claimedSeconds(header ?? "") ?? 0) - receivedAtMs / 1_000);
  const off = `${Math.abs(offSeconds)} s ${offSeconds < 0 ? "before" : "after"}`;
  return {
    cause: "stale-timestamp",
    detail: `The signature is right, but it was made ${off} the delivery came, and ${scheme.toleranceSeconds} s are allowed: set this machine's clock and the sender's, and check that nothing holds deliveries back`,
  };
}

/** The first change that makes one of the signatures right; null when none does. */
function search(
  { provider, others }: Known,
  secrets: Secrets,
  headers: Headers,
  bytes: Uint8Array,
): Explanation | null {
  const { signature: scheme } = provider;
  const sent = scheme.headers.map((name) => headers.get(name)).filter((value) => value !== null);
  const claims = sent.flatMap((header) => claimedMacs(scheme, header));
  const own = [secrets.current, secrets.previous].filter((secret) => secret !== null);
  const bodies = scheme.signed === "raw-or-compact-json" ? [bytes, compactJson(bytes)] : [bytes];
  const right = (keys: readonly Key[], texts: readonly Uint8Array[]) => {
    const pairs = keys.flatMap((key) => texts.map((text) => ({ key, text })));
    return pairs
      .values()
      .map(({ key, text }) => rightOf(claims, key, text))
      .find(Boolean);
  };

  const asItIs = right(own, bodies);
  if (asItIs !== undefined && asItIs.algorithm !== scheme.algorithm) {
    return otherAlgorithm(scheme, asItIs);
  }
  const oddity = asItIs?.oddity ?? null;
  if (oddity !== null) return odd(oddity, scheme, "");
  const body = bodyAlterations.find(({ undo }) => right(own, undo(bytes)));
  if (body !== undefined) return { cause: body.cause, detail: body.detail };
  const secret = secretAlterations.find(({ undo }) => right(own.flatMap(undo), bodies));
  if (secret !== undefined) return { cause: secret.cause, detail: secret.detail };
  const other = others.find(({ secrets: { current, previous } }) =>
    right(previous === null ? [current] : [current, previous], bodies),
  );
  if (other !== undefined) {
    return {
      cause: "secret-of-another-provider",
      detail: `It verifies with the secret of ${other.displayName}: that service posts to the wrong address, or the two secrets were swapped`,
    };
  }
  const written = claims.find((claim) => claim.oddity !== null)?.oddity ?? null;
  return written === null
    ? null
    : odd(written, scheme, "; even so written, it is right by no secret that is known here");
}

type Key = string | Uint8Array;

/**
 * The claim that is the MAC of a text. A stranger may claim hundreds in one header, so each MAC is made
 * once for all of them. Who sees the outcome has the secrets anyway: nothing here needs constant time.
 */
function rightOf(
  claims: readonly ClaimedMac[],
  key: Key,
  text: Uint8Array,
): ClaimedMac | undefined {
  if (key.length === 0) return undefined;
  const made = new Map<string, Buffer>();
  return claims.find(({ mac, algorithm, signedPrefix }) => {
    const way = `${algorithm} ${signedPrefix}`;
    const known =
      made.get(way) ??
      new Bun.CryptoHasher(algorithm, key).update(signedPrefix).update(text).digest();
    made.set(way, known);
    return known.equals(mac);
  });
}

function otherAlgorithm({ algorithm }: SignatureScheme, claim: ClaimedMac): Explanation {
  const name = (id: string) => id.replace("sha", "SHA-");
  return {
    cause: "other-algorithm",
    detail: `The signature is right by HMAC-${name(claim.algorithm)}, but HMAC-${name(algorithm)} is needed: choose that at the sender, or send the header that carries it`,
  };
}

function odd(oddity: Oddity, scheme: SignatureScheme, but: string): Explanation {
  const needed = formOf(scheme);
  const what = {
    "hex-for-base64": "in hex",
    "base64-for-hex": "in base64",
    "upper-case-hex": "in upper-case hex",
    "missing-prefix": `without "${scheme.prefix ?? ""}" before it`,
    "malformed-signature": "in a form of base64 that is not the standard one",
  }[oddity];
  return {
    cause: oddity,
    detail: `The signature is written ${what}, but ${needed} is needed: have the sender write it so${but}`,
  };
}
