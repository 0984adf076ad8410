import type { KeyObject } from "node:crypto";

import { nodeCrypto } from "../../base/crypto.ts";

import type { HmacScheme, PublicKeyScheme } from "./scheme.schema.ts";

/** What signs in place of the provider. */
export interface SigningKey {
  /** The configured secret. For public keys, what is configured in its place. */
  readonly secret: string;
  /** For schemes with public keys: the other half of a test key. */
  readonly privateKey?: KeyObject;
}

type SecretEncoding = NonNullable<HmacScheme["secretEncoding"]>;

/** The key of an HMAC. Throws an error that says how the secret must be written, and does not quote it. */
export function secretKey(secret: string, encoding: SecretEncoding = "text"): string | Buffer {
  switch (encoding) {
    case "text":
      return secret;
    case "hex": {
      if (!/^(?:[0-9a-f]{2})+$/i.test(secret)) throw new Error("must be hex digits");
      return Buffer.from(secret, "hex");
    }
    case "base64":
      return base64Bytes(secret, "must be base64");
    case "whsec":
      return base64Bytes(secret.replace(/^whsec_/, ""), "must be `whsec_` and base64");
  }
}

/** Writes a key as a secret of an encoding. */
export function secretText(key: Buffer, encoding: SecretEncoding = "text"): string {
  switch (encoding) {
    case "text":
    case "hex":
      return key.toString("hex");
    case "base64":
      return key.toString("base64");
    case "whsec":
      return `whsec_${key.toString("base64")}`;
  }
}

function base64Bytes(text: string, rule: string): Buffer {
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : Buffer.alloc(0);
  if (bytes.length === 0) throw new Error(rule);
  return bytes;
}

/** A kind of public key. */
export type KeyKind = PublicKeyScheme["kind"];

const leastRsaBits = 2_048;

/**
 * Reads a public key: PEM, an X.509 certificate, a JSON Web Key, or hex or base64 of DER (RFC 5280) or of the bare key. Throws an
 * error that says how it must be written.
 */
export function publicKey(text: string, kind: KeyKind): KeyObject {
  const key = readPublicKey(text, kind);
  requireKind(key, kind);
  return key;
}

function readPublicKey(text: string, kind: KeyKind): KeyObject {
  try {
    return anyPublicKey(text);
  } catch {
    throw new Error(`must be ${names[kind]}: PEM, or hex or base64 of the key`);
  }
}

/** Reads a public key of any kind. Throws if it is none. */
export function anyPublicKey(given: string): KeyObject {
  const { createPublicKey } = nodeCrypto();
  const text = given.trim();
  if (text.startsWith("-----BEGIN")) return createPublicKey(withLineBreaks(text));
  if (text.startsWith("{")) return createPublicKey({ key: JSON.parse(text), format: "jwk" });
  const bytes = keyBytes(text);
  const jwk = bareKey(bytes);
  return jwk === null
    ? createPublicKey({ key: bytes, format: "der", type: "spki" })
    : createPublicKey({ key: jwk, format: "jwk" });
}

/** Environment variables often hold a PEM on one line. */
function withLineBreaks(pem: string): string {
  return pem.replaceAll("\\n", "\n");
}

function keyBytes(text: string): Buffer {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, "hex");
  return Buffer.from(text.replace(/^whpk_/, "").replaceAll(/\s+/g, ""), "base64");
}

/** The key's numbers without a frame, as a JSON Web Key (RFC 8037, RFC 7518); null for other lengths. */
function bareKey(bytes: Buffer): Record<string, string> | null {
  if (bytes.length === 32) {
    return { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") };
  }
  if (bytes.length === 65 && bytes[0] === 4) {
    const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)];
    return { kty: "EC", crv: "P-256", x: x.toString("base64url"), y: y.toString("base64url") };
  }
  return null;
}

const names: Readonly<Record<KeyKind, string>> = {
  ed25519: "an Ed25519 public key",
  "ecdsa-p256": "a public key on P-256",
  "rsa-pkcs1": "an RSA public key",
  "rsa-pss": "an RSA public key",
};

/** Throws unless the key is of the kind, so that no other algorithm can be tricked into it. */
function requireKind(key: KeyObject, kind: KeyKind): void {
  if (!isKind(key, kind)) {
    const bits = kind.startsWith("rsa") ? ` of ${leastRsaBits} bits or more` : "";
    throw new Error(`must be ${names[kind]}${bits}`);
  }
}

/** Whether a public key is of the kind, and large enough. */
export function isKind(key: KeyObject, kind: KeyKind): boolean {
  const { type, asymmetricKeyType, asymmetricKeyDetails: details = {} } = key;
  if (type !== "public") return false;
  switch (kind) {
    case "ed25519":
      return asymmetricKeyType === "ed25519";
    case "ecdsa-p256":
      return asymmetricKeyType === "ec" && details.namedCurve === "prime256v1";
    case "rsa-pkcs1":
    case "rsa-pss":
      return asymmetricKeyType === "rsa" && (details.modulusLength ?? 0) >= leastRsaBits;
  }
}
