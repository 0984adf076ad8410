import type { KeyObject } from "node:crypto";

import { nodeCrypto } from "../../base/crypto.ts";
import { pointerKeys, valueAt } from "../../base/place.ts";
import { maxCandidates } from "../../identity/auth/any-key.ts";

import { anyPublicKey, isKind, type KeyKind } from "./keys.ts";
import type { KeySource } from "./scheme.schema.ts";

/** A key that a service publishes. `alg`: the only algorithm (JWS) that it is for; null if any that it can be used with. */
export interface PublishedKey {
  readonly key: KeyObject;
  readonly alg: string | null;
}

/**
 * Reads the wanted keys from the response of a service: during a rotation several may have one id, and a token without an id can
 * mean any of them. Null if the response has no such key, or it has expired. Throws if it is not what the source says, or a
 * certificate is not valid now.
 */
export function fetchedKeys(
  { format, at, expiresAt }: KeySource,
  text: string,
  kid: string | null,
  nowMs: number,
): readonly PublishedKey[] | null {
  const isJson = at !== undefined || format === "jwks" || format === "jwk";
  const value: unknown = isJson ? JSON.parse(text) : text;
  if (expiresAt !== undefined && hasExpired(valueAt(value, pointerKeys(expiresAt)), nowMs)) {
    return null;
  }
  const found = at === undefined ? value : valueAt(value, pointerKeys(at));
  switch (format) {
    case "certificate":
      return [{ key: certificateKey(String(found), nowMs), alg: null }];
    case "public-key":
      return [{ key: anyPublicKey(String(found)), alg: null }];
    case "jwk":
      return isForSignatures(found) ? [jwkKey(found)] : null;
    case "jwks": {
      const keys: unknown = valueAt(found, ["keys"]);
      const all: readonly unknown[] = Array.isArray(keys) ? keys.slice(0, maxKeys) : [];
      const named = all.filter((key) => kid === null || valueAt(key, ["kid"]) === kid);
      const read = named.filter(isForSignatures).flatMap((key) => readableKey(key));
      return read.length > 0 ? read : null;
    }
  }
}

/** The keys to try for a signature, by their kind and the algorithm that they are for. */
export function fittingKeys(
  published: readonly PublishedKey[] | null,
  kind: KeyKind,
  isRight: (alg: string) => boolean,
): readonly KeyObject[] {
  return (published ?? [])
    .filter(({ key, alg }) => isKind(key, kind) && (alg === null || isRight(alg)))
    .slice(0, maxCandidates)
    .map(({ key }) => key);
}

/** A time that cannot be read counts as past. */
function hasExpired(seconds: unknown, nowMs: number): boolean {
  if (seconds === undefined || seconds === null) return false;
  return !(typeof seconds === "number" && nowMs < seconds * 1_000);
}

/** Keys read from one set. */
const maxKeys = 100;

function certificateKey(pem: string, nowMs: number): KeyObject {
  const { X509Certificate } = nodeCrypto();
  const certificate = new X509Certificate(pem);
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (!(nowMs >= from && nowMs <= to)) throw new Error("The certificate is not valid now");
  return certificate.publicKey;
}

/** Whether a JSON Web Key may verify signatures (RFC 7517 sections 4.2 and 4.3). */
function isForSignatures(jwk: unknown): jwk is object {
  const { use, key_ops: operations }: { use?: unknown; key_ops?: unknown } = Object(jwk);
  return (
    typeof jwk === "object" &&
    jwk !== null &&
    (use === undefined || use === "sig") &&
    (operations === undefined || (Array.isArray(operations) && operations.includes("verify")))
  );
}

function jwkKey(jwk: object): PublishedKey {
  const { alg = null }: { readonly alg?: unknown } = jwk;
  const key = nodeCrypto().createPublicKey({ key: { ...jwk }, format: "jwk" });
  // Another value than a text is none of the algorithms.
  return { key, alg: alg === null || typeof alg === "string" ? alg : "" };
}

/** None if the key is of an unknown kind: implementations ignore it in a set (RFC 7517 section 5). */
function readableKey(jwk: object): readonly PublishedKey[] {
  try {
    return [jwkKey(jwk)];
  } catch {
    return [];
  }
}
