import { createHmac, createPrivateKey, sign } from "node:crypto";

import { clock } from "./clock.mjs";

/** HMAC by node:crypto, for SDKs that only verify. */
export const hmac = (algorithm, key, text, encoding) =>
  createHmac(algorithm, key).update(text).digest(encoding);

export const seconds = () => String(Math.floor(clock.now / 1_000));
export const milliseconds = () => String(clock.now);

/** An Ed25519 private key from a seed of 32 bytes (RFC 8410, PKCS#8). */
export const ed25519Key = (seedHex) =>
  createPrivateKey({
    key: Buffer.concat([
      Buffer.from("302e020100300506032b657004220420", "hex"),
      Buffer.from(seedHex, "hex"),
    ]),
    format: "der",
    type: "pkcs8",
  });
export const ed25519Sign = (key, text) => sign(null, Buffer.from(text), key);
