import type { KeyObject } from "node:crypto";

import { nodeCrypto } from "../../base/crypto.ts";

import { kindOf } from "./jwt.ts";
import { type KeyKind, secretText, type SigningKey } from "./keys.ts";
import { hasFetchedKey, isSymmetric, type SignatureScheme } from "./scheme.ts";

/** A secret for tries and tests. */
export interface DevelopmentSecret {
  readonly secret: string;
  /** PEM; for schemes with public keys, where `secret` is the public one. Null for others. */
  readonly privateKey: string | null;
}

/** The key to sign with: the private key, or the secret if there is none. */
export function signingKeyWith({ secret, privateKey }: DevelopmentSecret): SigningKey {
  if (privateKey === null) return { secret };
  return { secret, privateKey: nodeCrypto().createPrivateKey(privateKey) };
}

/** Whether the secret can be made: where the service publishes its key, it is an id or an account's name. */
export function canMakeSecret(scheme: SignatureScheme): boolean {
  return !hasFetchedKey(scheme);
}

/** Makes a random secret that a scheme can use, or null if only the service can sign. */
export function developmentSecret(scheme: SignatureScheme, prefix = ""): DevelopmentSecret | null {
  if (!canMakeSecret(scheme)) return null;
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
  const shared = (secret: string) => ({ secret, privateKey: null });
  switch (scheme.kind) {
    case "hmac":
      return shared(withPrefix(secretText(random, scheme.secretEncoding), prefix));
    case "shared-secret":
    case "url":
      return shared(withPrefix(random.toString("hex"), prefix));
    case "basic-auth":
      return shared(`skyhook:${random.toString("hex")}`);
    case "jwt":
      return isSymmetric(scheme)
        ? shared(secretText(random, scheme.secretEncoding))
        : keyPair(kindOf(scheme));
    default:
      return keyPair(scheme.kind);
  }
}

function withPrefix(secret: string, prefix: string): string {
  return secret.startsWith(prefix) ? secret : prefix + secret;
}

function keyPair(kind: KeyKind): DevelopmentSecret {
  const { publicKey, privateKey } = newKeyPair(kind);
  return {
    secret: publicKey.export({ format: "pem", type: "spki" }).toString(),
    privateKey: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Makes a pair of keys of a kind. An RSA pair takes some 100 ms. */
export function newKeyPair(kind: KeyKind): KeyPair {
  const { generateKeyPairSync } = nodeCrypto();
  switch (kind) {
    case "ed25519":
      return generateKeyPairSync("ed25519");
    case "ecdsa-p256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" });
    case "rsa-pkcs1":
    case "rsa-pss":
      return generateKeyPairSync("rsa", { modulusLength: 2_048 });
  }
}
