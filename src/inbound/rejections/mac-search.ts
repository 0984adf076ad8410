import { ownTurns } from "../../base/own-turn.ts";
import { exactText, lookup } from "../../base/place.ts";
import { secretKey } from "../signatures/keys.ts";
import { payloadReader, sourceOf } from "../signatures/payload-reader.ts";
import type { HmacScheme } from "../signatures/scheme.schema.ts";
import type { Secrets, SignedRequest } from "../signatures/signed-request.ts";
import { signedBody, signedTexts } from "../signatures/signed-text.ts";

import { bodyAlterations, secretAlterations } from "./alterations.ts";
import { type ClaimedMac, claimedMacs, type Oddity } from "./claimed-mac.ts";
import type { Explanation } from "./explanation.ts";
import { formOf } from "./form.ts";
import { alteredUrls, urlChanged } from "./url-alterations.ts";

/** The secrets that a request is tried with. */
export interface TriedSecrets {
  readonly own: Secrets;
  /** Those of the other providers, with their display names. */
  readonly others: readonly { readonly displayName: string; readonly secrets: Secrets }[];
}

type Key = string | Uint8Array;

/** A try takes some milliseconds with a large body, which anyone can send: other requests run between two of them. */
const ownTurn = ownTurns();

/** The first change that makes an HMAC right, or null if none does. */
export async function searchMac(
  scheme: HmacScheme,
  secrets: TriedSecrets,
  sent: SignedRequest,
): Promise<Explanation | null> {
  const request = withBytes(sent, sent.bytes);
  const asItIs = right(scheme, request, keysOf(scheme, secrets.own));
  if (asItIs !== null && asItIs.algorithm !== scheme.algorithm) {
    return otherAlgorithm(scheme, asItIs);
  }
  const oddity = asItIs?.oddity ?? null;
  if (oddity !== null) return odd(oddity, scheme, "");
  for (const { altered, keys, explanation } of changes(scheme, secrets, request)) {
    await ownTurn();
    if (right(scheme, altered, keys) !== null) return explanation;
  }
  return written(scheme, request);
}

/** The request with this body, which is parsed once at most, however often it is tried. */
function withBytes(request: SignedRequest, bytes: Uint8Array): SignedRequest {
  return { ...request, bytes, payload: payloadReader(bytes) };
}

/** A change to try. */
interface Change {
  readonly altered: SignedRequest;
  readonly keys: readonly Key[];
  readonly explanation: Explanation;
}

function* changes(
  scheme: HmacScheme,
  { own, others }: TriedSecrets,
  request: SignedRequest,
): Generator<Change, void> {
  const keys = keysOf(scheme, own);
  for (const { cause, detail, undo } of bodyAlterations) {
    for (const bytes of undo(request.bytes)) {
      yield { altered: withBytes(request, bytes), keys, explanation: { cause, detail } };
    }
  }
  for (const url of alteredUrls(scheme, request)) {
    yield { altered: { ...request, url }, keys, explanation: urlChanged(url, request.url) };
  }
  for (const { cause, detail, undo } of secretAlterations) {
    const undone = rolesOf(own).flatMap((each) => undo(each, (text) => keyOf(scheme, text)));
    yield { altered: request, keys: undone, explanation: { cause, detail } };
  }
  for (const { displayName, secrets } of others) {
    const theirs = rolesOf(secrets).flatMap((each) => [each, ...keyOf(scheme, each)]);
    yield { altered: request, keys: theirs, explanation: ofAnother(displayName) };
  }
}

function ofAnother(displayName: string): Explanation {
  return {
    cause: "secret-of-another-provider",
    detail: `The webhook verifies with the secret of ${displayName}: that service posts to the wrong URL, or the two secrets were swapped. Correct the URL or the secrets.`,
  };
}

function keysOf(scheme: HmacScheme, secrets: Secrets): readonly Key[] {
  return rolesOf(secrets).flatMap((secret) => keyOf(scheme, secret));
}

function rolesOf({ current, previous }: Secrets): readonly string[] {
  return previous === null ? [current] : [current, previous];
}

/** The key of a secret, or none if it is not written as the scheme requires. */
function keyOf({ secretEncoding }: HmacScheme, secret: string): readonly Key[] {
  try {
    return [secretKey(secret, secretEncoding)];
  } catch {
    return [];
  }
}

/** A signature that is well written in another form, but matches no secret. */
function written(scheme: HmacScheme, request: SignedRequest): Explanation | null {
  const claims = claimedMacs(scheme, sourceOf(request));
  const oddity = claims.find((claim) => claim.oddity !== null)?.oddity ?? null;
  return oddity === null
    ? null
    : odd(oddity, scheme, " Decoded, it matches none of the configured secrets either.");
}

/**
 * Finds the claimed signature that is the MAC of the request with one of the keys. One header can claim hundreds of
 * signatures, so each MAC is computed only once. Only operators see the result, so constant time is
 * not needed.
 */
function right(
  scheme: HmacScheme,
  request: SignedRequest,
  keys: readonly Key[],
): ClaimedMac | null {
  const source = sourceOf(request);
  const claims = claimedMacs(scheme, source);
  const id = scheme.id === undefined ? null : exactText(lookup(scheme.id)(source));
  const body = signedBody(request.bytes);
  const texts = signedTexts(scheme);
  for (const key of keys) {
    if (key.length === 0) continue;
    for (const text of texts) {
      const made = new Map<string, Buffer | null>();
      const found = claims.find(({ mac, algorithm, timestamp }) => {
        const variant = `${algorithm} ${timestamp}`;
        if (!made.has(variant)) {
          const parts = { ...source, body, method: request.method, timestamp, id, secret: "" };
          made.set(variant, macOf(algorithm, key, text.pieces(parts)));
        }
        const known = made.get(variant) ?? Buffer.alloc(0);
        return known.equals(mac);
      });
      if (found !== undefined) return found;
    }
  }
  return null;
}

function macOf(
  algorithm: ClaimedMac["algorithm"],
  key: Key,
  pieces: readonly Key[] | null,
): Buffer | null {
  if (pieces === null) return null;
  const hasher = new Bun.CryptoHasher(algorithm, key);
  for (const piece of pieces) hasher.update(piece);
  return hasher.digest();
}

function otherAlgorithm({ algorithm }: HmacScheme, claim: ClaimedMac): Explanation {
  const name = (id: string) => id.replace("sha", "SHA-");
  return {
    cause: "other-algorithm",
    detail: `The signature is a valid HMAC-${name(claim.algorithm)}, but HMAC-${name(algorithm)} is required. Select that algorithm at the sender, or send the header that contains it.`,
  };
}

function odd(oddity: Oddity, scheme: HmacScheme, addition: string): Explanation {
  const needed = formOf(scheme);
  const isHex = scheme.encoding.startsWith("hex");
  const what = {
    "hex-for-base64": "in hex",
    "base64-for-hex": "in base64",
    "upper-case-hex": "in upper-case hex",
    "missing-prefix": `without the prefix "${scheme.prefix ?? scheme.items?.signature ?? ""}"`,
    "malformed-signature": isHex ? "in lower-case hex" : "in non-standard base64",
  }[oddity];
  return {
    cause: oddity,
    detail: `The signature is written ${what}, but must be ${needed}. Correct it at the sender.${addition}`,
  };
}
