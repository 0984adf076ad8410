import type { KeyObject } from "node:crypto";

import type { errors, JWTPayload } from "jose";

import { sameText } from "../../base/crypto.ts";
import { exactText, lookup, type PlaceSource } from "../../base/place.ts";
import { verifiedByAny } from "../../identity/auth/any-key.ts";

import { fittingKeys } from "./fetched-key.ts";
import type { KeyStore } from "./key-store.ts";
import { type KeyKind, publicKey, secretKey } from "./keys.ts";
import { sourceOf } from "./payload-reader.ts";
import type { JwtScheme } from "./scheme.schema.ts";
import { isSymmetric, isWeak } from "./scheme.ts";
import type {
  RoleSecret,
  SignatureRejection,
  SignedRequest,
  Verification,
} from "./signed-request.ts";
import { isTimely } from "./signed-time.ts";

// Loaded on first use: most providers send no tokens.
const jose = () => import("jose");

/** Longer tokens are not read. */
const maxTokenLength = 1024 * 1024;
/** Services name keys by UUIDs or hashes. */
const maxKidLength = 256;
/** For `exp` and `nbf` where the scheme has no tolerance of its own. */
const defaultSkewSeconds = 60;

/** Verifies JSON Web Tokens (RFC 7519). Only the declared algorithms are accepted (RFC 8725 section 3.1). */
export function jwtVerifier(
  scheme: JwtScheme,
  secrets: readonly RoleSecret[],
  keys: KeyStore,
): (request: SignedRequest) => Promise<Verification> {
  const keyOf = keyFinder(scheme, secrets, keys);
  const readToken = tokenReader(scheme);
  const findSecret = scheme.secretAt === undefined ? null : lookup(scheme.secretAt);
  return async (request) => {
    const source = sourceOf(request);
    const token = await readToken(source, request.bytes);
    if ("rejection" in token) return token;
    let rejection: SignatureRejection = "wrong-signature";
    for (const { role, secret } of secrets) {
      const bound = findSecret === null || sameText(exactText(findSecret(source)) ?? "", secret);
      const found = await keyOf(token, secret, source);
      if (found === null) return { rejection: "untrusted-key" };
      const failed = await rejectionOf(scheme, token.text, found.keys, secret, request);
      if (failed === null && bound) {
        found.confirm();
        const { bytes } = request;
        return { verified: { bytes, ...signedOf(scheme, token.text, bytes), signedWith: role } };
      }
      // The current secret's reason counts, unless only the previous one's signature is right.
      if (failed !== null && rejection === "wrong-signature") rejection = failed;
    }
    return { rejection };
  };
}

interface Token {
  readonly text: string;
  readonly alg: string;
  readonly kid: string | null;
}

function tokenReader({ from, prefix = "", algorithms }: JwtScheme) {
  const find = from === "body" ? null : lookup(from);
  return async (
    source: PlaceSource,
    bytes: Uint8Array,
  ): Promise<Token | { readonly rejection: SignatureRejection }> => {
    const value = find === null ? Buffer.from(bytes).toString("latin1") : find(source);
    if (value === undefined || value === "") return { rejection: "missing-signature" };
    const sent = exactText(value) ?? "";
    if (sent.includes(",")) return { rejection: "several-signatures" };
    const text = sent.slice(prefix.length);
    if (!sent.startsWith(prefix) || text.length > maxTokenLength) return malformed;
    if (!isCanonical(text)) return malformed;
    const { decodeProtectedHeader } = await jose();
    try {
      const { alg, kid }: { readonly alg?: unknown; readonly kid?: unknown } =
        decodeProtectedHeader(text);
      if (typeof alg !== "string" || !algorithms.some((each) => each === alg)) return malformed;
      // A string if there is one (RFC 7515 section 4.1.4).
      if (kid === undefined) return { text, alg, kid: null };
      return typeof kid === "string" && kid.length <= maxKidLength ? { text, alg, kid } : malformed;
    } catch {
      return malformed;
    }
  };
}

/** Whether each part encodes back to itself (RFC 4648 section 3.5), so that a signature has one form. */
function isCanonical(token: string): boolean {
  const parts = token.split(".", 4);
  return (
    parts.length === 3 &&
    parts.every(
      (part) => part !== "" && Buffer.from(part, "base64url").toString("base64url") === part,
    )
  );
}

/** The body if it is not the token, besides the claims of a token that holds its hash. */
function signedOf({ bodyHash }: JwtScheme, token: string, bytes: Uint8Array) {
  const text = withoutSignature(token);
  if (bodyHash === undefined) return { signedBytes: Buffer.from(text), signedContext: "" };
  // A token without the hash can come with any number of bodies.
  return { signedBytes: bytes, signedContext: bodyHash === "none" ? "" : text };
}

/** The signing input of a token (RFC 7515 section 5.1). Other text around the token is not signed. */
function withoutSignature(token: string): string {
  return token.slice(0, token.lastIndexOf("."));
}

const malformed = { rejection: "malformed-signature" } as const;

type Key = KeyObject | Uint8Array;
interface FoundKey {
  readonly keys: readonly Key[];
  /** Called once a token verified with it. */
  readonly confirm: () => void;
}
type FindKey = (token: Token, secret: string, source: PlaceSource) => Promise<FoundKey | null>;

function keyFinder(scheme: JwtScheme, secrets: readonly RoleSecret[], keys: KeyStore): FindKey {
  const { key: keySource } = scheme;
  if (keySource !== undefined) {
    const find = keySource.from === undefined ? () => keySource.url : lookup(keySource.from);
    return async ({ alg, kid }, secret, source) => {
      const url = exactText(find(source));
      if (url === null) return null;
      const wanted = { url, kid, secret };
      const published = await keys.find(keySource, wanted);
      const fitting = fittingKeys(published, kindOf(scheme), (each) => each === alg);
      if (fitting.length === 0) return null;
      return { keys: fitting, confirm: () => keys.confirm(keySource, wanted) };
    };
  }
  const confirm = () => {};
  const pinned = new Map(
    secrets.map(({ secret }) => [secret, { keys: [pinnedKey(scheme, secret)], confirm }]),
  );
  return async (_, secret) => pinned.get(secret) ?? null;
}

function pinnedKey(scheme: JwtScheme, secret: string): Key {
  if (!isSymmetric(scheme)) return publicKey(secret, kindOf(scheme));
  return Buffer.from(secretKey(secret, scheme.secretEncoding));
}

/** The kind of key of the first algorithm; the others have the same, as `schemeProblems` requires. */
export function kindOf({ algorithms }: Pick<JwtScheme, "algorithms">): KeyKind {
  const algorithm = String(algorithms[0]);
  if (algorithm.startsWith("ES")) return "ecdsa-p256";
  return algorithm === "EdDSA" ? "ed25519" : "rsa-pkcs1";
}

/** Why a token does not verify with a key; null if it does. */
async function rejectionOf(
  scheme: JwtScheme,
  token: string,
  keys: readonly Key[],
  secret: string,
  { url, bytes, receivedAtMs }: SignedRequest,
): Promise<SignatureRejection | null> {
  const { algorithms, issuer, audience, toleranceSeconds } = scheme;
  const { errors: kinds } = await jose();
  try {
    const { payload } = await verifiedByAny(token, keys, {
      algorithms,
      currentDate: new Date(receivedAtMs),
      clockTolerance: toleranceSeconds ?? defaultSkewSeconds,
      ...(issuer !== undefined && { issuer }),
      ...(audience !== undefined && { audience: requiredClaim(audience, secret, url) }),
      // Nothing else ends the use of a captured token.
      ...(isWeak(scheme) && { requiredClaims: ["exp"] }),
    });
    if (!hasClaims(scheme, payload, secret)) return "wrong-signature";
    return rejectionOfClaims(scheme, payload, bytes, receivedAtMs);
  } catch (error) {
    return rejectionFor(error, kinds);
  }
}

/** The value that a scheme requires of a claim. */
export function requiredClaim(text: string, secret: string, url: string): string {
  return text.replace("{secret}", () => secret).replace("{url}", () => url);
}

function hasClaims({ claims = {} }: JwtScheme, sent: JWTPayload, secret: string): boolean {
  return Object.entries(claims).every(([name, wanted]) => {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (typeof wanted === "boolean") return value === wanted;
    return (
      typeof value === "string" &&
      sameText(
        value,
        wanted.replace("{secret}", () => secret),
      )
    );
  });
}

function rejectionOfClaims(
  { bodyHash, toleranceSeconds }: JwtScheme,
  claims: JWTPayload,
  bytes: Uint8Array,
  receivedAtMs: number,
): SignatureRejection | null {
  if (typeof bodyHash === "object") {
    const { claim, algorithm, encoding } = bodyHash;
    const hash = new Bun.CryptoHasher(algorithm).update(bytes).digest().toString(encoding);
    const sent = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (typeof sent !== "string" || !sameText(sent, hash)) return "wrong-signature";
  }
  const { iat, nbf } = claims;
  if (iat === undefined && toleranceSeconds !== undefined) return "missing-timestamp";
  // `exp` limits the age of a token where no tolerance does.
  const limits = [
    [iat, toleranceSeconds ?? Infinity],
    [nbf, Infinity],
  ] as const;
  const isStale = limits.some(
    ([seconds, tolerance]) =>
      seconds !== undefined && !isTimely(seconds * 1_000, receivedAtMs, tolerance),
  );
  return isStale ? "stale-timestamp" : null;
}

function rejectionFor(error: unknown, kinds: typeof errors): SignatureRejection {
  if (error instanceof kinds.JWTExpired) return "stale-timestamp";
  if (error instanceof kinds.JWTClaimValidationFailed) {
    return error.claim === "nbf" || error.claim === "iat" ? "stale-timestamp" : "wrong-signature";
  }
  const isWrong = error instanceof kinds.JWSSignatureVerificationFailed;
  return isWrong || !(error instanceof kinds.JOSEError) ? "wrong-signature" : "malformed-signature";
}
