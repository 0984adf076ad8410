import { compactJson } from "./compact-json.ts";

/** How a provider signs, as data. The engine below interprets it. */
export type SignatureScheme = UntimedScheme | TimedScheme;

interface AnyScheme {
  readonly algorithm: "sha1" | "sha256";
  readonly encoding: "hex" | "base64";
  /** Text before the encoded signature, such as `sha256=`. */
  readonly prefix?: string;
  /** Accepted header names, in lower case. If several are sent, each must verify. */
  readonly headers: readonly string[];
}

interface UntimedScheme extends AnyScheme {
  /**
   * The signed text: the raw bytes only, or, if those do not match, the same JSON without white space
   * outside strings.
   */
  readonly signed: "raw" | "raw-or-compact-json";
}

export interface TimedScheme extends AnyScheme {
  /** The signed text is `<t>.<raw>`, with `t` from the header `t=<unix seconds>,v1=<signature>[,…]`. */
  readonly signed: "timestamp-dot-raw";
  /** The maximum distance of `t` from now, in the past or the future. */
  readonly toleranceSeconds: number;
}

/** Secrets by role. The previous one is accepted during a rotation. */
export interface Secrets {
  readonly current: string;
  readonly previous: string | null;
}
export type SecretRole = "current" | "previous";

/** Why a signature did not verify. */
export type SignatureRejection =
  | "missing-signature"
  | "several-signatures"
  | "malformed-signature"
  | "wrong-signature"
  | "missing-timestamp"
  | "stale-timestamp";

/** Verified bytes. Only these are parsed, stored as an event or passed on. */
export interface Verified {
  readonly bytes: Uint8Array;
  /** The text that the signature covers: `bytes`, or their compact JSON. */
  readonly signedBytes: Uint8Array;
  readonly signedWith: SecretRole;
}
export type Verification =
  { readonly verified: Verified } | { readonly rejection: SignatureRejection };

/** A request to verify. `receivedAtMs`: time of receipt, in milliseconds since the epoch. */
export interface SignedRequest {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly receivedAtMs: number;
}

/** Maximum signatures in one structured header. No real provider sends more. */
const maxSignatures = 8;

/**
 * Creates the verifier of a scheme and prepares its keys once. The verifier works on exact bytes, compares
 * in constant time, tries every signature against every secret without an early exit, accepts only
 * canonical encodings and never throws. Creating it throws on an empty secret: anyone can compute an
 * HMAC with an empty key (RFC 2104).
 */
export function verifier(
  scheme: SignatureScheme,
  secrets: Secrets,
): (request: SignedRequest) => Verification {
  const keys = keysOf(scheme, secrets);
  return (request) => {
    const present = scheme.headers
      .map((name) => request.headers.get(name))
      .filter((value) => value !== null);
    const results = present.map((value) => verifyHeader(scheme, keys, value, request));
    return results.find((result) => "rejection" in result) ?? results[0] ?? missing;
  };
}

const missing: Verification = { rejection: "missing-signature" };

interface Key {
  readonly role: SecretRole;
  readonly hasher: Bun.CryptoHasher;
}

function keysOf(scheme: SignatureScheme, secrets: Secrets): readonly Key[] {
  const roles = [
    ["current", secrets.current],
    ["previous", secrets.previous],
  ] as const;
  return roles.flatMap(([role, secret]) => {
    if (secret === null) return [];
    if (secret === "") throw new Error(`The ${role} webhook secret is empty`);
    return [{ role, hasher: new Bun.CryptoHasher(scheme.algorithm, secret) }];
  });
}

function verifyHeader(
  scheme: SignatureScheme,
  keys: readonly Key[],
  header: string,
  request: SignedRequest,
): Verification {
  const claim = readClaim(scheme, header, request.receivedAtMs);
  if ("rejection" in claim) return claim;
  const match = matchingKey(keys, claim, signedTexts(scheme, request.bytes));
  if (match === null) return { rejection: "wrong-signature" };
  if (claim.stale) return { rejection: "stale-timestamp" };
  return { verified: { bytes: request.bytes, signedBytes: match.text, signedWith: match.role } };
}

/** The parsed content of a signature header. */
interface Claim {
  readonly signatures: readonly Buffer[];
  /** Signed text before the body. Empty for schemes without a timestamp. */
  readonly signedPrefix: string;
  readonly stale: boolean;
}

function readClaim(
  scheme: SignatureScheme,
  header: string,
  receivedAtMs: number,
): Claim | { readonly rejection: SignatureRejection } {
  if (scheme.signed === "timestamp-dot-raw") return readTimestamped(scheme, header, receivedAtMs);
  // `Headers` joins repeated headers with commas, and no valid signature contains a comma.
  if (header.includes(",")) return { rejection: "several-signatures" };
  const prefix = scheme.prefix ?? "";
  if (!header.startsWith(prefix)) return { rejection: "malformed-signature" };
  const signature = decodeSignature(scheme, header.slice(prefix.length));
  if (signature === null) return { rejection: "malformed-signature" };
  return { signatures: [signature], signedPrefix: "", stale: false };
}

/**
 * A comma with spaces and tabs around it (RFC 9110 section 5.6.1), no other white space. The lookbehind
 * keeps matching linear over a long run of spaces.
 */
const listSeparator = /(?<![ \t])[ \t]*,[ \t]*/;

/** Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`. Skips other keys, such as the legacy `v0`. */
function readTimestamped(
  scheme: TimedScheme,
  header: string,
  receivedAtMs: number,
): Claim | { readonly rejection: SignatureRejection } {
  const items = header.split(listSeparator);
  const times = items.filter((item) => item.startsWith("t=")).map((item) => item.slice(2));
  const [time] = times;
  if (time === undefined) return { rejection: "missing-timestamp" };
  if (times.length > 1 || !/^\d{1,12}$/.test(time)) return { rejection: "malformed-signature" };
  const encoded = items.filter((item) => item.startsWith("v1=")).map((item) => item.slice(3));
  if (encoded.length === 0) return { rejection: "missing-signature" };
  if (encoded.length > maxSignatures) return { rejection: "several-signatures" };
  const signatures = encoded.map((text) => decodeSignature(scheme, text));
  const decoded = signatures.filter((signature) => signature !== null);
  if (decoded.length === 0) return { rejection: "malformed-signature" };
  const ageSeconds = receivedAtMs / 1_000 - Number(time);
  // With `<=`, an age of NaN is stale too.
  const fresh = Math.abs(ageSeconds) <= scheme.toleranceSeconds;
  return { signatures: decoded, signedPrefix: `${time}.`, stale: !fresh };
}

const macBytes = { sha1: 20, sha256: 32 } as const;

/**
 * Decodes a canonical signature: lower-case hex of the exact length, or padded base64 of the standard
 * alphabet that encodes back to itself (RFC 4648 sections 3.5 and 4). Returns null for anything else.
 */
function decodeSignature(scheme: SignatureScheme, text: string): Buffer | null {
  const bytes = macBytes[scheme.algorithm];
  if (scheme.encoding === "hex") {
    const canonical = text.length === bytes * 2 && /^[0-9a-f]+$/.test(text);
    return canonical ? Buffer.from(text, "hex") : null;
  }
  const decoded = Buffer.from(text, "base64");
  return decoded.length === bytes && decoded.toString("base64") === text ? decoded : null;
}

/** The texts that a signature may cover, in order of preference. */
function signedTexts(scheme: SignatureScheme, bytes: Uint8Array): readonly Uint8Array[] {
  if (scheme.signed !== "raw-or-compact-json") return [bytes];
  const compact = compactJson(bytes);
  // The body is compact already, so a second HMAC would be over the same text.
  return compact.length === bytes.length ? [bytes] : [bytes, compact];
}

/** Finds the secret and text that match a signature. Computes every combination, for constant time. */
function matchingKey(
  keys: readonly Key[],
  claim: Claim,
  texts: readonly Uint8Array[],
): { readonly role: SecretRole; readonly text: Uint8Array } | null {
  let match: { readonly role: SecretRole; readonly text: Uint8Array } | null = null;
  for (const { role, hasher } of keys) {
    for (const text of texts) {
      const mac = hasher.copy().update(claim.signedPrefix).update(text).digest();
      for (const signature of claim.signatures) {
        // decodeSignature ensures equal lengths, so this cannot throw.
        if (crypto.timingSafeEqual(mac, signature)) match ??= { role, text };
      }
    }
  }
  return match;
}

/**
 * Returns the header value that the provider would send for a body. Implements the specification's test
 * procedure, for `skyhook send` and for tests. `atMs`: the signed time, if the scheme has one.
 */
export function sign(
  scheme: SignatureScheme,
  secret: string,
  bytes: Uint8Array,
  atMs: number,
): string {
  const seconds = Math.floor(atMs / 1_000);
  const timestamped = scheme.signed === "timestamp-dot-raw";
  const text = scheme.signed === "raw-or-compact-json" ? compactJson(bytes) : bytes;
  const mac = new Bun.CryptoHasher(scheme.algorithm, secret)
    .update(timestamped ? `${seconds}.` : "")
    .update(text)
    .digest(scheme.encoding);
  return timestamped ? `t=${seconds},v1=${mac}` : `${scheme.prefix ?? ""}${mac}`;
}
