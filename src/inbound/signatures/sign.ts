import { nodeCrypto } from "../../base/crypto.ts";
import { exactText, lookup, oneOrMore, type PlaceSource } from "../../base/place.ts";

import { encode } from "./encodings.ts";
import { secretKey, type SigningKey } from "./keys.ts";
import { hashOf, keyInput } from "./matchers.ts";
import { payloadReader } from "./payload-reader.ts";
import type { TextScheme } from "./scheme.schema.ts";
import {
  headerIn,
  isTextScheme,
  signaturePlaces,
  type SignatureScheme,
  urlEndPlace,
} from "./scheme.ts";
import { signedToken } from "./sign-jwt.ts";
import { type Piece, signedBody, signedTexts } from "./signed-text.ts";

/** A request without its signature. */
interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** A value that signing adds, and its place. */
export interface Addition {
  readonly place: string;
  readonly value: string;
}

/**
 * What the provider adds to a request before it signs: its time, its id, the account. `atMs`: the signed time, if the
 * scheme has one.
 */
export function preparations(
  scheme: SignatureScheme,
  { secret }: SigningKey,
  atMs: number,
): readonly Addition[] {
  const added: Addition[] = [];
  if ("secretAt" in scheme && scheme.secretAt !== undefined) {
    added.push({ place: scheme.secretAt, value: secret });
  }
  if (isTextScheme(scheme) && scheme.timestamp?.from !== undefined) {
    const { from, unit } = scheme.timestamp;
    const [place = ""] = oneOrMore(from);
    added.push({ place, value: timeText(atMs, unit) });
  }
  return added;
}

/**
 * The signature of a prepared request, and its place. Implements the specification's test procedure, for `skyhook send` and for
 * tests. Throws if the scheme needs a private key that `key` does not have.
 */
export function signature(
  scheme: SignatureScheme,
  key: SigningKey,
  request: UnsignedRequest,
  atMs: number,
): Addition {
  const [place = ""] = signaturePlaces(scheme);
  const prefix = "prefix" in scheme ? (scheme.prefix ?? "") : "";
  switch (scheme.kind) {
    case "shared-secret":
      return { place, value: prefix + key.secret };
    case "basic-auth":
      return { place, value: `Basic ${Buffer.from(key.secret).toString("base64")}` };
    case "url":
      return { place, value: key.secret };
    case "jwt":
      return { place, value: prefix + signedToken(scheme, key, request, atMs) };
    default:
      return { place, value: textSignature(scheme, key, request, atMs) };
  }
}

/**
 * The headers that the provider would add to a request; a secret in the URL is none. Throws if the scheme adds to the body, and the body lacks what it
 * adds.
 */
export function signedHeaders(
  scheme: SignatureScheme,
  key: SigningKey,
  request: UnsignedRequest,
  atMs: number,
): Record<string, string> {
  const source = placeSource(request);
  const prepared = preparations(scheme, key, atMs).filter(
    // A body that has its time is signed as it is.
    ({ place }) => headerIn(place) !== null || lookup(place)(source) === undefined,
  );
  const headers = { ...request.headers, ...headersOf(prepared) };
  const signed = signature(scheme, key, { ...request, headers }, atMs);
  return headersOf([...prepared, signed].filter(({ place }) => place !== urlEndPlace));
}

function headersOf(added: readonly Addition[]): Record<string, string> {
  return Object.fromEntries(
    added.map(({ place, value }) => {
      const name = headerIn(place);
      if (name === null) throw new Error(`The scheme adds to ${place}, which is no header`);
      return [name, value];
    }),
  );
}

/**
 * The value of the first signature header of a scheme that signs only the body and its time. For tests and
 * tools that send one header.
 */
export function sign(
  scheme: SignatureScheme,
  secret: string,
  bytes: Uint8Array,
  atMs: number,
): string {
  const request = { method: "POST", url: "", headers: {}, bytes };
  return signature(scheme, { secret }, request, atMs).value;
}

function textSignature(
  scheme: TextScheme,
  key: SigningKey,
  request: UnsignedRequest,
  atMs: number,
): string {
  const { timestamp, id, items, encoding, prefix = "" } = scheme;
  const source = placeSource(request);
  const time = timestamp === undefined ? "" : signedTime(timestamp, source, atMs);
  // The last text is what the provider signs; earlier ones are accepted too.
  const text = signedTexts(scheme).at(-1);
  const parts = {
    ...source,
    body: signedBody(request.bytes),
    method: request.method,
    timestamp: time,
    id: id === undefined ? null : exactText(lookup(id)(source)),
    secret: key.secret,
  };
  const pieces = text?.pieces(parts) ?? null;
  if (pieces === null) throw new Error("The webhook lacks a value that its provider signs");
  const signed = encode(encoding, signatureOf(scheme, key, pieces));
  if (items === undefined) return prefix + signed;
  const list = [items.signature + signed];
  if (timestamp?.item !== undefined) list.unshift(timestamp.item + time);
  return list.join(items.separator);
}

function placeSource({ headers, url, bytes }: UnsignedRequest) {
  return { headers: new Headers({ ...headers }), url, payload: payloadReader(bytes) };
}

/** A time in the body is signed as it is. */
function signedTime(
  { from = "", unit }: NonNullable<TextScheme["timestamp"]>,
  source: PlaceSource,
  atMs: number,
): string {
  const sent = oneOrMore(from).some((place) => place.startsWith("/"))
    ? exactText(lookup(from)(source))
    : null;
  return sent ?? timeText(atMs, unit);
}

function timeText(
  atMs: number,
  unit: NonNullable<TextScheme["timestamp"]>["unit"] = "seconds",
): string {
  switch (unit) {
    case "seconds":
      return String(Math.floor(atMs / 1_000));
    case "milliseconds":
      return String(Math.floor(atMs));
    case "iso8601":
      return new Date(atMs).toISOString();
  }
}

function signatureOf(scheme: TextScheme, key: SigningKey, pieces: readonly Piece[]): Buffer {
  if (scheme.kind === "hmac") {
    const hasher = new Bun.CryptoHasher(
      scheme.algorithm,
      secretKey(key.secret, scheme.secretEncoding),
    );
    for (const piece of pieces) hasher.update(piece);
    return hasher.digest();
  }
  if (key.privateKey === undefined)
    throw new Error("Only the service can sign: its key is private");
  const text = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
  return nodeCrypto().sign(hashOf(scheme), text, keyInput(scheme, key.privateKey));
}
