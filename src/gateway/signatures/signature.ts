import { compactJson } from "./compact-json.ts";

/** How a provider signs, as data. One engine below interprets it. */
export type SignatureScheme = UntimedScheme | TimedScheme;

interface AnyScheme {
  readonly algorithm: "sha1" | "sha256";
  readonly encoding: "hex" | "base64";
  /** Stands before the encoded signature, as `sha256=`. */
  readonly prefix?: string;
  /** Accepted names, lower-case. Where several are sent, each must verify. */
  readonly headers: readonly string[];
}

interface UntimedScheme extends AnyScheme {
  /**
   * What is signed: the raw bytes; or the raw bytes or, failing that, the same JSON without white space
   * outside strings.
   */
  readonly signed: "raw" | "raw-or-compact-json";
}

export interface TimedScheme extends AnyScheme {
  /** Signed is `<t>.<raw>` with `t` out of a header `t=<unix seconds>,v1=<signature>[,…]`. */
  readonly signed: "timestamp-dot-raw";
  /** How far `t` may lie from now, both ways. */
  readonly toleranceSeconds: number;
}

/** Secrets by role; the previous one is accepted while a rotation is under way. */
export interface Secrets {
  readonly current: string;
  readonly previous: string | null;
}
export type SecretRole = "current" | "previous";

export type SignatureFault =
  | "missing-signature"
  | "several-signatures"
  | "malformed-signature"
  | "wrong-signature"
  | "missing-timestamp"
  | "stale-timestamp";

/** Bytes that verified: the only ones that the chain reads, keeps as an event, or hands on. */
export interface Verified {
  readonly bytes: Uint8Array;
  /** What of them the signature is over: less than all where white space may come and go. */
  readonly signedBytes: Uint8Array;
  readonly signedWith: SecretRole;
}
export type Verdict = { readonly verified: Verified } | { readonly fault: SignatureFault };

/** What is to be verified. `receivedAtMs`: time of arrival, milliseconds since the epoch. */
export interface SignedRequest {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly receivedAtMs: number;
}

/** Signatures looked at in one structured header; more are not sent by anyone honest. */
const maxSignatures = 8;

/**
 * Makes the verifier of a scheme, with keys prepared once. It works on exact bytes, compares in
 * constant time, tries every signature against every secret without an early exit, takes canonical
 * encodings only and never throws. Throws at once on an empty secret: an HMAC with it is anyone's
 * (RFC 2104).
 */
export function verifier(
  scheme: SignatureScheme,
  secrets: Secrets,
): (request: SignedRequest) => Verdict {
  const keys = keysOf(scheme, secrets);
  return (request) => {
    const present = scheme.headers
      .map((name) => request.headers.get(name))
      .filter((value) => value !== null);
    const verdicts = present.map((value) => verifyHeader(scheme, keys, value, request));
    return verdicts.find((verdict) => "fault" in verdict) ?? verdicts[0] ?? missing;
  };
}

const missing: Verdict = { fault: "missing-signature" };

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
): Verdict {
  const claim = readClaim(scheme, header, request.receivedAtMs);
  if ("fault" in claim) return claim;
  const match = matchingKey(keys, claim, signedTexts(scheme, request.bytes));
  if (match === null) return { fault: "wrong-signature" };
  if (claim.stale) return { fault: "stale-timestamp" };
  return { verified: { bytes: request.bytes, signedBytes: match.text, signedWith: match.role } };
}

/** What a signature header claims. */
interface Claim {
  readonly signatures: readonly Buffer[];
  /** Stands before the body in what is signed; empty for most schemes. */
  readonly signedPrefix: string;
  readonly stale: boolean;
}

function readClaim(
  scheme: SignatureScheme,
  header: string,
  receivedAtMs: number,
): Claim | { readonly fault: SignatureFault } {
  if (scheme.signed === "timestamp-dot-raw") return readTimestamped(scheme, header, receivedAtMs);
  // Several headers of one name arrive joined by commas, which no single signature holds.
  if (header.includes(",")) return { fault: "several-signatures" };
  const prefix = scheme.prefix ?? "";
  if (!header.startsWith(prefix)) return { fault: "malformed-signature" };
  const signature = decodeSignature(scheme, header.slice(prefix.length));
  if (signature === null) return { fault: "malformed-signature" };
  return { signatures: [signature], signedPrefix: "", stale: false };
}

/**
 * A comma with spaces and tabs around it (RFC 9110 section 5.6.1), no other white space. Looking behind
 * keeps it linear over a long run of spaces.
 */
const listSeparator = /(?<![ \t])[ \t]*,[ \t]*/;

/** Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`; other keys, as the legacy `v0`, are passed over. */
function readTimestamped(
  scheme: TimedScheme,
  header: string,
  receivedAtMs: number,
): Claim | { readonly fault: SignatureFault } {
  const items = header.split(listSeparator);
  const times = items.filter((item) => item.startsWith("t=")).map((item) => item.slice(2));
  const [time] = times;
  if (time === undefined) return { fault: "missing-timestamp" };
  if (times.length > 1 || !/^\d{1,12}$/.test(time)) return { fault: "malformed-signature" };
  const encoded = items.filter((item) => item.startsWith("v1=")).map((item) => item.slice(3));
  if (encoded.length === 0) return { fault: "missing-signature" };
  if (encoded.length > maxSignatures) return { fault: "several-signatures" };
  const signatures = encoded.map((text) => decodeSignature(scheme, text));
  const decoded = signatures.filter((signature) => signature !== null);
  if (decoded.length === 0) return { fault: "malformed-signature" };
  const ageSeconds = receivedAtMs / 1_000 - Number(time);
  // Asked this way round, an age that is not a number is stale too.
  const fresh = Math.abs(ageSeconds) <= scheme.toleranceSeconds;
  return { signatures: decoded, signedPrefix: `${time}.`, stale: !fresh };
}

const macBytes = { sha1: 20, sha256: 32 } as const;

/**
 * The bytes of a canonically encoded signature, or null: lower-case hex of the exact length, or padded
 * base64 of the standard alphabet that encodes back to itself (RFC 4648 sections 3.5 and 4).
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

/** The bodies that a signature may be over, in order of preference. */
function signedTexts(scheme: SignatureScheme, bytes: Uint8Array): readonly Uint8Array[] {
  if (scheme.signed !== "raw-or-compact-json") return [bytes];
  const compact = compactJson(bytes);
  // Compact already: a second HMAC of the same text would tell nothing.
  return compact.length === bytes.length ? [bytes] : [bytes, compact];
}

/** The secret that made one of the signatures, and the text it is over; all are computed, whichever matches. */
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
        // Lengths are equal by decodeSignature, so this cannot throw.
        if (crypto.timingSafeEqual(mac, signature)) match ??= { role, text };
      }
    }
  }
  return match;
}

/**
 * Signs as the provider would: the header value for a body. The spec's test procedure, for `skyhook
 * send` and for tests. `atMs`: the time to claim where the scheme has one.
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
