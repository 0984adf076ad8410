import { afterAll, expect, test } from "bun:test";
import { KeyObject, sign } from "node:crypto";

import { exportJWK, generateKeyPair, SignJWT } from "jose";

import { guardedFetch } from "../../../src/base/guarded-fetch.ts";
import { keyStore } from "../../../src/inbound/signatures/key-store.ts";
import type { SignatureScheme } from "../../../src/inbound/signatures/scheme.ts";
import { verifier } from "../../../src/inbound/signatures/signature.ts";
import { manualClock } from "../../support/clock.ts";

const clock = manualClock();
const bytes = Buffer.from('{"a":1}');
const pairs = await Promise.all(
  Array.from({ length: 18 }, () => generateKeyPair("ES256", { extractable: true })),
);
const [signing] = pairs;
if (signing === undefined) throw new Error("No key");
const [right, ...others] = await Promise.all(
  pairs.map(async ({ publicKey }) => ({ ...(await exportJWK(publicKey)) })),
);
const rsa = await exportJWK((await generateKeyPair("RS256")).publicKey);
const unreadable = { kty: "EC", crv: "P-256", x: "AA", y: "AA", kid: "k1" };

let keys: readonly object[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json({ keys }),
});
afterAll(() => server.stop(true));

const fetchAnywhere = guardedFetch({
  allowsPrivate: true,
  resolve: () => Promise.reject(new Error("Nothing must be looked up")),
});

async function outcome(scheme: SignatureScheme, signature: string): Promise<string> {
  const secrets = { current: "account", previous: null };
  const result = await verifier(
    scheme,
    secrets,
    keyStore(clock, fetchAnywhere),
  )({
    method: "POST",
    url: "",
    headers: new Headers({ "x-signature": signature }),
    bytes,
    receivedAtMs: clock.now(),
  });
  return "verified" in result ? result.verified.signedWith : result.rejection;
}

const key = { url: server.url.href, format: "jwks" } as const;

const tokenWith = (kid: string | null) => {
  const seconds = Math.floor(clock.now() / 1_000);
  return new SignJWT({ iat: seconds, exp: seconds + 60 })
    .setProtectedHeader({ alg: "ES256", ...(kid !== null && { kid }) })
    .sign(signing.privateKey);
};

const named = (jwk: object | undefined) => ({ ...jwk, kid: "k1" });
const encrypting = { ...others[0], use: "enc" };

/** The keys of the service, the key id of a token, the verdict on the token, and on a signature that names no key. */
const cases: readonly (readonly [string, readonly object[], string | null, string, string?])[] = [
  ["its only key", [named(right)], "k1", "current"],
  ["a second key of the id", [named(others[0]), named(right)], "k1", "current"],
  ["an encryption key of the id before it", [named(encrypting), named(right)], "k1", "current"],
  ["a key of another kind before it", [named(rsa), named(right)], "k1", "current"],
  ["a key that cannot be read before it", [unreadable, named(right)], "k1", "current"],
  [
    "a key of an unknown kind before it",
    [{ kty: "XYZ", kid: "k1" }, named(right)],
    "k1",
    "current",
  ],
  ["no key id, and several keys", [named(others[0]), named(right)], null, "current"],
  ["no key id, and an encryption key", [encrypting, { ...right }], null, "current"],
  ["no key id, and fifteen others", [...others.slice(0, 15), { ...right }], null, "current"],
  [
    "no key id, and sixteen others",
    [...others.slice(0, 16), { ...right }],
    null,
    "wrong-signature",
  ],
  ["another key of the id", [named(others[0])], "k1", "wrong-signature"],
  ["another key id", [named(right)], "k2", "untrusted-key", "current"],
  ["a key for encryption", [{ ...named(right), use: "enc" }], "k1", "untrusted-key"],
  ["a key that must not verify", [{ ...named(right), key_ops: ["sign"] }], "k1", "untrusted-key"],
  ["a key to verify", [{ ...named(right), use: "sig", key_ops: ["verify"] }], "k1", "current"],
  ["a key for its algorithm", [{ ...named(right), alg: "ES256" }], "k1", "current"],
  ["a key for another algorithm", [{ ...named(right), alg: "ES384" }], "k1", "untrusted-key"],
  ["no keys", [], "k1", "untrusted-key"],
];

test.each(cases)(
  "a signature, where the service publishes %s",
  async (_, published, kid, token, raw = token) => {
    keys = published;
    const jwt: SignatureScheme = {
      kind: "jwt",
      from: "header.x-signature",
      algorithms: ["ES256"],
      bodyHash: "none",
      key,
    };
    expect(await outcome(jwt, await tokenWith(kid))).toBe(token);
    const ecdsa: SignatureScheme = {
      kind: "ecdsa-p256",
      format: "der",
      from: "header.x-signature",
      encoding: "base64",
      signs: "{body}",
      key,
    };
    const signature = sign("sha256", bytes, KeyObject.from(signing.privateKey)).toString("base64");
    expect(await outcome(ecdsa, signature)).toBe(raw);
  },
);
