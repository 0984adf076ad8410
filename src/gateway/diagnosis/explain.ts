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

/** The provider of a delivery, and the configured secrets. */
export interface Known {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** The display names and secrets of the other providers. */
  readonly others: readonly { readonly displayName: string; readonly secrets: Secrets }[];
}

/**
 * Explains why a delivery was rejected: tries to undo common mistakes, one at a time, until it verifies.
 * Pure. For operators only, since senders must not learn the cause. The result contains no secret and no
 * valid signature.
 */
export function explain(known: Known, rejected: RejectedDelivery): Explanation {
  const { provider, secrets } = known;
  const { reason, headers, bytes, receivedAtMs } = rejected;
  if (!searchable.includes(reason)) return plain(reason, provider, rejected);
  if (secrets === null) {
    return {
      cause: "no-secret",
      detail: `${provider.displayName} has no secret, so the delivery cannot be checked. Set the secret, then check again.`,
    };
  }
  if (bytes === null) {
    return {
      cause: "body-not-kept",
      detail: `The body of ${rejected.bodyBytes} bytes is not stored: it was too large or its retention period is over. Have the provider send it again, or run \`skyhook verify\` with the bytes.`,
    };
  }
  const result = verifier(provider.signature, secrets)({ headers, bytes, receivedAtMs });
  if ("verified" in result) return verifiesNow(result.verified.signedWith);
  const { signature: scheme } = provider;
  if (result.rejection === "stale-timestamp" && scheme.signed === "timestamp-dot-raw") {
    return stale(scheme, headers, receivedAtMs);
  }
  return (
    search(known, secrets, headers, bytes) ??
    (reason === "wrong-signature"
      ? { cause: "unknown", detail: ruledOut(known) }
      : plain(reason, provider, rejected))
  );
}

/** Lists what was tried when nothing makes the delivery verify. */
function ruledOut({ others }: Known): string {
  const tried = [
    "a line break at the end of the body or other line endings in it",
    "reformatted JSON",
    "another algorithm or form of the signature",
    "white space around the secret or another encoding of it",
    ...(others.length > 0 ? ["the secrets of the other providers"] : []),
  ];
  return `The delivery was signed with another secret, or the body was changed in transit. Ruled out: ${tried.join("; ")}. Compare the secret with the one at the provider, and check for a proxy, parser or editor that changes bodies.`;
}

/** Reasons whose cause a search can find. */
const searchable: readonly RejectionReason[] = [
  "wrong-signature",
  "malformed-signature",
  "stale-timestamp",
];

/** The explanation of the reason itself. */
function plain(
  reason: RejectionReason,
  provider: Provider,
  rejected: RejectedDelivery,
): Explanation {
  const cause = reason === "wrong-signature" ? "unknown" : reason;
  return { cause, detail: advice(reason, provider, rejected) };
}

function verifiesNow(role: keyof Secrets): Explanation {
  if (role === "current") {
    return {
      cause: "verifies-now",
      detail:
        "The delivery verifies with the current configuration: the secret or Skyhook was changed after it was received. Have the provider send it again.",
    };
  }
  return {
    cause: "previous-secret",
    detail:
      "The delivery verifies with the previous secret, which is now accepted. Have the provider send it again, and set the current secret there.",
  };
}

function stale(scheme: TimedScheme, headers: Headers, receivedAtMs: number): Explanation {
  const header = scheme.headers.map((name) => headers.get(name)).find((value) => value !== null);
  const offSeconds = Math.round((claimedSeconds(header ?? "") ?? 0) - receivedAtMs / 1_000);
  const off = `${Math.abs(offSeconds)} s ${offSeconds < 0 ? "before" : "after"}`;
  return {
    cause: "stale-timestamp",
    detail: `The signature is valid, but it was made ${off} the delivery was received; at most ${scheme.toleranceSeconds} s are allowed. Synchronise the clocks of this machine and the sender, and check that nothing delays deliveries.`,
  };
}

/** The first change that makes a signature valid, or null if none does. */
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
      detail: `The delivery verifies with the secret of ${other.displayName}: that service posts to the wrong URL, or the two secrets were swapped. Correct the URL or the secrets.`,
    };
  }
  const written = claims.find((claim) => claim.oddity !== null)?.oddity ?? null;
  return written === null
    ? null
    : odd(written, scheme, " Decoded, it matches none of the configured secrets either.");
}

type Key = string | Uint8Array;

/**
 * Finds the claimed signature that is the MAC of a text. One header can claim hundreds of signatures, so
 * each MAC is computed only once. Only operators see the result, so constant time is not needed.
 */
function rightOf(
  claims: readonly ClaimedMac[],
  key: Key,
  text: Uint8Array,
): ClaimedMac | undefined {
  if (key.length === 0) return undefined;
  const made = new Map<string, Buffer>();
  return claims.find(({ mac, algorithm, signedPrefix }) => {
    const variant = `${algorithm} ${signedPrefix}`;
    const known =
      made.get(variant) ??
      new Bun.CryptoHasher(algorithm, key).update(signedPrefix).update(text).digest();
    made.set(variant, known);
    return known.equals(mac);
  });
}

function otherAlgorithm({ algorithm }: SignatureScheme, claim: ClaimedMac): Explanation {
  const name = (id: string) => id.replace("sha", "SHA-");
  return {
    cause: "other-algorithm",
    detail: `The signature is a valid HMAC-${name(claim.algorithm)}, but HMAC-${name(algorithm)} is required. Select that algorithm at the sender, or send the header that contains it.`,
  };
}

function odd(oddity: Oddity, scheme: SignatureScheme, addition: string): Explanation {
  const needed = formOf(scheme);
  const what = {
    "hex-for-base64": "in hex",
    "base64-for-hex": "in base64",
    "upper-case-hex": "in upper-case hex",
    "missing-prefix": `without the prefix "${scheme.prefix ?? ""}"`,
    "malformed-signature": "in non-standard base64",
  }[oddity];
  return {
    cause: oddity,
    detail: `The signature is written ${what}, but must be ${needed}. Correct it at the sender.${addition}`,
  };
}
