import type { KeyObject } from "node:crypto";

import { nodeCrypto } from "../../../../src/base/crypto.ts";
import { lazy } from "../../../../src/base/lazy.ts";
import { newKeyPair } from "../../../../src/inbound/signatures/development-secret.ts";
import type { KeyStore } from "../../../../src/inbound/signatures/key-store.ts";
import { secretText, type SigningKey } from "../../../../src/inbound/signatures/keys.ts";
import type { TextScheme } from "../../../../src/inbound/signatures/scheme.schema.ts";

/** A key of the suite: what is configured, and what signs. */
interface TestKey extends SigningKey {
  /** Signs by node:crypto, not by the engine that is checked. */
  readonly sign: (text: Buffer, algorithm?: string) => Buffer;
}

/** The keys of a scheme by name: equal names are equal keys. */
interface TestKeys {
  readonly of: (name: string) => TestKey;
  /** Where a published key comes from, without a network. */
  readonly store: KeyStore;
}

export function testKeys(scheme: TextScheme): TestKeys {
  const made = new Map<string, TestKey>();
  const service = lazy(() => pairFor(scheme, "of the service"));
  const make = (name: string): TestKey => {
    if (scheme.kind === "hmac") return macKey(scheme, name);
    const pair = scheme.key === undefined ? pairFor(scheme, name) : service();
    const { publicKey, privateKey } = pair;
    const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
    const secret = scheme.key === undefined ? pem : name;
    return { secret, privateKey, sign: signerOf(scheme, privateKey) };
  };
  return {
    of(name) {
      const key = made.get(name) ?? make(name);
      made.set(name, key);
      return key;
    },
    store: { find: () => [{ key: service().publicKey, alg: null }], confirm() {} },
  };
}

function macKey(scheme: TextScheme & { kind: "hmac" }, name: string): TestKey {
  const { algorithm, secretEncoding = "text" } = scheme;
  const bytes = Buffer.from(name);
  const secret = secretEncoding === "text" ? name : secretText(bytes, secretEncoding);
  const { createHmac } = nodeCrypto();
  return {
    secret,
    sign: (text, other = algorithm) => createHmac(other, bytes).update(text).digest(),
  };
}

/** By kind and name. One of RSA takes 100 ms. */
const pairs = new Map<string, ReturnType<typeof newKeyPair>>();

function pairFor({ kind }: TextScheme, name: string) {
  if (kind === "hmac") throw new Error("An HMAC has no pair of keys");
  const pair = pairs.get(kind + name) ?? newKeyPair(kind);
  pairs.set(kind + name, pair);
  return pair;
}

function signerOf(scheme: TextScheme, key: KeyObject): TestKey["sign"] {
  const { sign, constants } = nodeCrypto();
  return (text) => {
    switch (scheme.kind) {
      case "rsa-pkcs1":
        return sign(scheme.algorithm, text, key);
      case "rsa-pss": {
        const padding = constants.RSA_PKCS1_PSS_PADDING;
        return sign(scheme.algorithm, text, {
          key,
          padding,
          saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
        });
      }
      case "ecdsa-p256":
        return sign("sha256", text, { key, dsaEncoding: scheme.format });
      default:
        return sign(null, text, key);
    }
  };
}
