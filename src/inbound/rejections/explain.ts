import { ownTurns } from "../../base/own-turn.ts";
import { exactText, lookup } from "../../base/place.ts";
import { programName } from "../../base/program-name.ts";
import type { RejectionReason } from "../model/rejection.ts";
import { isSignedForAnyone } from "../providers/provider-verifier.ts";
import type { Provider } from "../providers/provider.ts";
import { millisecondsOf } from "../signatures/claim.ts";
import { type KeyStore, noKeys } from "../signatures/key-store.ts";
import { sourceOf } from "../signatures/payload-reader.ts";
import type { PublicKeyScheme, TextScheme } from "../signatures/scheme.schema.ts";
import { isTextScheme, signaturePlaces } from "../signatures/scheme.ts";
import { verifier } from "../signatures/signature.ts";
import type { Secrets, SignedRequest, Verify } from "../signatures/signed-request.ts";
import { aheadSeconds } from "../signatures/signed-time.ts";

import { bodyAlterations } from "./alterations.ts";
import { claimedTime } from "./claimed-mac.ts";
import type { Explanation, RejectedRequest } from "./explanation.ts";
import { searchMac } from "./mac-search.ts";
import { advice } from "./rejection-advice.ts";
import { alteredUrls, urlChanged } from "./url-alterations.ts";

/** The provider of a request, and the configured secrets. */
export interface Known {
  readonly provider: Provider;
  readonly secrets: Secrets | null;
  /** The display names and secrets of the other providers. */
  readonly others: readonly { readonly displayName: string; readonly secrets: Secrets }[];
  /** Where keys that services publish come from. */
  readonly keys?: KeyStore;
}

/**
 * Explains why a request was rejected: tries to undo common mistakes, one at a time, until it verifies.
 * For operators only, since senders must not learn the cause. The result contains no secret and no
 * valid signature.
 */
export async function explain(known: Known, rejected: RejectedRequest): Promise<Explanation> {
  const { provider, secrets } = known;
  const { reason, bytes } = rejected;
  if (!searchable.includes(reason)) return plain(reason, provider, rejected);
  if (secrets === null) {
    return {
      cause: "no-secret",
      detail: `${provider.displayName} has no secret, so the webhook cannot be checked. Set the secret, then check again.`,
    };
  }
  if (bytes === null) {
    return {
      cause: "body-not-kept",
      detail: `The body of ${rejected.bodyBytes} bytes is not stored: it was too large or its retention period is over. Have the provider send it again, or run \`${programName} verify\` with the bytes.`,
    };
  }
  const { signature: scheme } = provider;
  const request = { ...rejected, bytes };
  if (isSignedForAnyone(provider, bytes)) {
    const detail =
      "The body could be the challenge of a handshake, which is signed for anyone. It is never accepted.";
    return { cause: "unknown", detail };
  }
  const verify = verifier(scheme, secrets, known.keys ?? noKeys);
  const result = await verify(request);
  if ("verified" in result) return verifiesNow(result.verified.signedWith);
  if (result.rejection === "stale-timestamp" && isTextScheme(scheme)) return stale(scheme, request);
  return (
    (await search(known, secrets, verify, request)) ??
    (reason === "wrong-signature"
      ? unexplained(known, rejected)
      : plain(reason, provider, rejected))
  );
}

function search(
  { provider: { signature: scheme }, others }: Known,
  own: Secrets,
  verify: Verify,
  request: SignedRequest,
): Promise<Explanation | null> {
  if (scheme.kind === "hmac") return searchMac(scheme, { own, others }, request);
  return isTextScheme(scheme) ? searchKey(scheme, verify, request) : Promise.resolve(null);
}

/** Verifying a large body takes some milliseconds: other requests run between two tries. */
const ownTurn = ownTurns();

/** The first change that makes a signature with a public key right, or null if none does. */
async function searchKey(
  scheme: PublicKeyScheme,
  verify: Verify,
  request: SignedRequest,
): Promise<Explanation | null> {
  const isRight = async (altered: SignedRequest) => {
    await ownTurn();
    return "verified" in (await verify(altered));
  };
  for (const { cause, detail, undo } of bodyAlterations) {
    for (const bytes of undo(request.bytes)) {
      if (await isRight({ ...request, bytes })) return { cause, detail };
    }
  }
  for (const url of alteredUrls(scheme, request)) {
    if (await isRight({ ...request, url })) return urlChanged(url, request.url);
  }
  return null;
}

/** Lists what was tried when nothing makes the request verify. */
function unexplained({ provider, others }: Known, rejected: RejectedRequest): Explanation {
  const { signature } = provider;
  if (!isTextScheme(signature)) {
    return { cause: "unknown", detail: advice("wrong-signature", provider, rejected) };
  }
  const isMac = signature.kind === "hmac";
  const checklist = {
    finding: "The webhook was signed with another secret, or the body was changed in transit.",
    ruledOut: [
      "a line break at the end of the body or other line endings in it",
      "reformatted JSON",
      ...(isMac
        ? [
            "another algorithm or form of the signature",
            "white space around the secret or another encoding of it",
          ]
        : []),
      ...(isMac && others.length > 0 ? ["the secrets of the other providers"] : []),
    ],
    nextSteps: [
      "Compare the secret with the one at the provider",
      "check for a proxy, parser or editor that changes bodies",
    ],
  };
  const { finding, ruledOut, nextSteps } = checklist;
  const detail = `${finding} Ruled out: ${ruledOut.join("; ")}. ${nextSteps.join(", and ")}.`;
  return { cause: "unknown", detail, checklist };
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
  rejected: RejectedRequest,
): Explanation {
  const cause = reason === "wrong-signature" ? "unknown" : reason;
  return { cause, detail: advice(reason, provider, rejected) };
}

function verifiesNow(role: keyof Secrets): Explanation {
  if (role === "current") {
    return {
      cause: "verifies-now",
      detail:
        "The webhook verifies with the current configuration: the secret or Skyhook was changed after it was received. Have the provider send it again.",
    };
  }
  return {
    cause: "previous-secret",
    detail:
      "The webhook verifies with the previous secret, which is now accepted. Have the provider send it again, and set the current secret there.",
  };
}

function stale(scheme: TextScheme, request: SignedRequest): Explanation {
  const source = sourceOf(request);
  const sent = signaturePlaces(scheme).map((place) => exactText(lookup(place)(source)));
  const signature = sent.find((value) => value !== null) ?? "";
  const { unit, toleranceSeconds = 0 } = scheme.timestamp ?? {};
  const signedAtMs = millisecondsOf(claimedTime(scheme, source, signature), unit ?? "seconds") ?? 0;
  const offSeconds = Math.round((signedAtMs - request.receivedAtMs) / 1_000);
  const off = `${Math.abs(offSeconds)} s ${offSeconds < 0 ? "before" : "after"}`;
  const allowed = offSeconds < 0 ? toleranceSeconds : aheadSeconds(toleranceSeconds);
  return {
    cause: "stale-timestamp",
    detail: `The signature is valid, but it was made ${off} the webhook was received; at most ${allowed} s are allowed. Synchronise the clocks of this machine and the sender, and check that nothing delays webhooks.`,
  };
}
