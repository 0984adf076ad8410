import type { KeyObject } from "node:crypto";

import { nodeCrypto } from "../../base/node-crypto.ts";
import { pointerKeys, valueAt } from "../../base/place.ts";

import { anyPublicKey } from "./keys.ts";
import type { KeySource } from "./scheme.schema.ts";

/**
 * Reads the wanted key from the response of a service. Null if the response has no such key, or it has expired. Throws if it is not
 * what the source says, or a certificate is not valid now.
 */
export function fetchedKey(
  { format, at, expiresAt }: KeySource,
  text: string,
  kid: string | null,
  nowMs: number,
): KeyObject | null {
  const isJson = at !== undefined || format === "jwks" || format === "jwk";
  const value: unknown = isJson ? JSON.parse(text) : text;
  if (expiresAt !== undefined && hasExpired(valueAt(value, pointerKeys(expiresAt)), nowMs)) {
    return null;
  }
  const found = at === undefined ? value : valueAt(value, pointerKeys(at));
  switch (format) {
    case "certificate":
      return certificateKey(String(found), nowMs);
    case "public-key":
      return anyPublicKey(String(found));
    case "jwk":
      return jwkKey(found);
    case "jwks": {
      const keys: unknown = valueAt(found, ["keys"]);
      const all: readonly unknown[] = Array.isArray(keys) ? keys.slice(0, maxKeys) : [];
      const named = all.filter((key) => valueAt(key, ["kid"]) === kid);
      // A token without a key id can only mean the only key.
      return jwkKey(kid === null && all.length === 1 ? all[0] : named[0]);
    }
  }
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

function jwkKey(jwk: unknown): KeyObject | null {
  if (typeof jwk !== "object" || jwk === null) return null;
  return nodeCrypto().createPublicKey({ key: { ...jwk }, format: "jwk" });
}
