import { createHmac } from "node:crypto";

import fc from "fast-check";

import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import type { HmacScheme } from "../../../src/inbound/signatures/scheme.schema.ts";
import { toleranceOf } from "../../../src/inbound/signatures/scheme.ts";
import { providerOf } from "../../support/app.ts";

import { compactReference } from "./compact.ts";
import { encoded, jsonText } from "./json.ts";
import { damaged, hostileHeaderValue } from "./text.ts";

/** One delivery to be judged, at a moment that both judges are told. */
export interface SignedCase {
  readonly provider: string;
  readonly body: Uint8Array;
  /** The value of the provider's first signature header. */
  readonly header: string;
}

/** When all cases are received. */
export const nowSeconds = 1_763_716_364;

/** What all judges know; the previous one is accepted too. */
export const secrets = {
  current: "it was a bright cold day",
  previous: "the clocks were striking",
};

/** What is signed, which may be something else than what is sent. */
const signedTexts: readonly ((body: Uint8Array) => Uint8Array)[] = [
  (body) => body,
  (body) => body,
  compactReference,
  reserialised,
  (body) => Buffer.concat([body, Buffer.from(" ")]),
  () => new Uint8Array(),
];

function reserialised(body: Uint8Array): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(Buffer.from(body).toString())));
  } catch {
    return body;
  }
}

/** Ways to write a signature, right and wrong. */
const writings: readonly ((mac: Buffer, encoding: "hex" | "base64") => string)[] = [
  (mac, encoding) => mac.toString(encoding),
  (mac, encoding) => mac.toString(encoding),
  (mac) => mac.toString("hex").toUpperCase(),
  (mac) => mac.toString("base64url"),
  (mac) => mac.toString("base64").replaceAll("=", ""),
  (mac, encoding) => `${mac.toString(encoding)}zz`,
  (mac, encoding) => `${mac.toString(encoding)}=`,
  (mac, encoding) => `${mac.toString(encoding)}==AAAA`,
  (mac, encoding) => mac.toString(encoding).replace(/^.{8}/, "$& "),
  (mac, encoding) => mac.subarray(0, -1).toString(encoding),
  (mac) => `0x${mac.toString("hex")}`,
  (mac) => mac.toString("hex").replaceAll(/../g, "$&:"),
  // The last letter before the padding has bits that count for nothing.
  (mac) => mac.toString("base64").replace(/.(?==*$)/, (letter) => nextLetter(letter)),
];

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const nextLetter = (letter: string): string => alphabet[(alphabet.indexOf(letter) + 1) % 64] ?? "A";

const secret = fc.constantFrom(secrets.current, secrets.current, secrets.previous, "another", "");

const plainHeader = (prefix: string) => (written: string) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(`${prefix}${written}`) },
    fc.constantFrom(written, `${prefix}${prefix}${written}`, `${prefix.toUpperCase()}${written}`),
    fc.constantFrom(
      `${prefix} ${written}`,
      `"${prefix}${written}"`,
      `${prefix}${written}, ${written}`,
    ),
    hostileHeaderValue,
  );

const body = fc.oneof(
  { weight: 3, arbitrary: encoded(jsonText) },
  fc.uint8Array({ maxLength: 60 }),
);

/** The scheme of a built-in provider, all of which are HMACs. */
export function macSchemeOf(provider: string): HmacScheme {
  const { signature } = providerOf(provider);
  if (signature.kind !== "hmac") throw new Error(`${provider} does not sign with an HMAC`);
  return signature;
}

/** The encoding of a scheme in the words of `Buffer`. */
const bufferEncoding = ({ encoding }: HmacScheme): "hex" | "base64" =>
  encoding === "base64" ? "base64" : "hex";

function plainCases(provider: string): fc.Arbitrary<SignedCase> {
  const signature = macSchemeOf(provider);
  return fc
    .record({
      body,
      signed: fc.constantFrom(...signedTexts),
      secret,
      write: fc.constantFrom(...writings),
      algorithm: fc.constantFrom(signature.algorithm, signature.algorithm, "sha1", "sha256"),
    })
    .chain((chosen) => {
      const hmac = createHmac(chosen.algorithm, chosen.secret).update(chosen.signed(chosen.body));
      const written = chosen.write(hmac.digest(), bufferEncoding(signature));
      return plainHeader(signature.prefix ?? "")(written).map((header) => ({
        provider,
        body: chosen.body,
        header,
      }));
    });
}

const time = fc.oneof(
  fc
    .constantFrom(0, 0, -299, -300, -301, 299, 300, 301, 3_600)
    .map((off) => String(nowSeconds + off)),
  fc.constantFrom(
    `0${nowSeconds}`,
    `${nowSeconds}.5`,
    `${nowSeconds}x`,
    ` ${nowSeconds}`,
    "",
    "-1",
    "1e9",
  ),
);

const timestampedCases = (
  provider: string,
  signature: HmacScheme = macSchemeOf(provider),
): fc.Arbitrary<SignedCase> =>
  fc
    .record({
      body,
      time,
      signed: fc.constantFrom(...signedTexts),
      secret,
      write: fc.constantFrom(...writings),
      noise: fc.array(
        fc.constantFrom(
          "v0=abc",
          `t=${nowSeconds}`,
          `v1=${"0".repeat(64)}`,
          "v1=",
          "x",
          "v1=zz",
          "t=1",
        ),
        { maxLength: 9 },
      ),
      separator: fc.constantFrom(",", ",", ",", ", ", ";", "\t,"),
      tail: fc.constantFrom("", "", "", "=", "=x"),
      isReversed: fc.boolean(),
    })
    .map((chosen) => {
      const hmac = createHmac(signature.algorithm, chosen.secret)
        .update(`${chosen.time}.`)
        .update(chosen.signed(chosen.body));
      const items = [
        `t=${chosen.time}`,
        `v1=${chosen.write(hmac.digest(), bufferEncoding(signature))}${chosen.tail}`,
        ...chosen.noise,
      ];
      if (chosen.isReversed) items.reverse();
      return {
        provider,
        body: chosen.body,
        header: items.join(chosen.separator),
      };
    });

const wellFormed: fc.Arbitrary<SignedCase> = fc.oneof(
  ...catalogue.map((provider) =>
    toleranceOf(provider.signature) !== null
      ? timestampedCases(provider.id)
      : plainCases(provider.id),
  ),
);
const mutated = wellFormed.chain((tried) =>
  damaged(fc.constant(Buffer.from(tried.header))).map((bytes) => ({
    ...tried,
    header: Buffer.from(bytes)
      .toString("latin1")
      .replaceAll(/[^\t\x20-\x7e]/g, "")
      .trim(),
  })),
);

/** Deliveries signed in right and wrong ways, for every provider. */
export const signedCases: fc.Arbitrary<SignedCase> = fc
  .oneof({ weight: 4, arbitrary: wellFormed }, { weight: 1, arbitrary: mutated })
  // HTTP takes off what white space is around a value, before any verifier sees it.
  .map((tried) => ({ ...tried, header: tried.header.trim() }));
