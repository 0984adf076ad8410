import { sameText } from "../../base/crypto.ts";
import { exactText, lookup, type PlaceSource } from "../../base/place.ts";

import { type Claim, claimReader } from "./claim.ts";
import { fittingKeys, type PublishedKey } from "./fetched-key.ts";
import { jwtVerifier } from "./jwt.ts";
import { type KeyStore, noKeys } from "./key-store.ts";
import { publicKey } from "./keys.ts";
import { keyMatcher, macMatcher, type Matches } from "./matchers.ts";
import { sourceOf } from "./payload-reader.ts";
import type { HmacScheme, KeySource, PublicKeyScheme, TextScheme } from "./scheme.schema.ts";
import type { SignatureScheme } from "./scheme.ts";
import { tokenVerifier } from "./shared-secret.ts";
import type {
  RoleSecret,
  SecretRole,
  Secrets,
  SignedRequest,
  Verification,
  Verified,
  Verify,
} from "./signed-request.ts";
import {
  type Piece,
  type SignedBody,
  signedBody,
  type SignedText,
  signedTexts,
} from "./signed-text.ts";

/**
 * Creates the verifier of a scheme and prepares its keys once. The verifier works on exact bytes, compares
 * in constant time, tries every signature against every secret without an early exit, accepts only
 * canonical encodings and never throws, except `unavailable` if a key cannot be fetched. Creating it throws on
 * an empty secret: anyone can compute an HMAC with an empty key (RFC 2104). `keys` fetches published keys.
 */
export function verifier(
  scheme: HmacScheme,
  secrets: Secrets,
  keys?: KeyStore,
): (request: SignedRequest) => Verification;
export function verifier(scheme: SignatureScheme, secrets: Secrets, keys?: KeyStore): Verify;
export function verifier(
  scheme: SignatureScheme,
  secrets: Secrets,
  keys: KeyStore = noKeys,
): Verify {
  const roles = rolesOf(secrets);
  switch (scheme.kind) {
    case "hmac":
      return textVerifier(
        scheme,
        roles.map(({ role, secret }) => ({ role, secret, matches: macMatcher(scheme, secret) })),
      );
    case "jwt":
      return jwtVerifier(scheme, roles, keys);
    case "shared-secret":
    case "basic-auth":
    case "url":
      return tokenVerifier(scheme, roles);
    default:
      return scheme.key === undefined
        ? textVerifier(scheme, pinned(scheme, roles))
        : fetchingVerifier(scheme, scheme.key, roles, keys);
  }
}

function rolesOf({ current, previous }: Secrets): readonly RoleSecret[] {
  const roles = [
    { role: "current", secret: current },
    { role: "previous", secret: previous },
  ] as const;
  return roles.flatMap(({ role, secret }) => {
    if (secret === null) return [];
    if (secret === "") throw new Error(`The ${role} webhook secret is empty`);
    return [{ role, secret }];
  });
}

/** A secret, and the key that it is or goes with. */
interface Key extends RoleSecret {
  readonly matches: Matches;
}

function pinned(scheme: PublicKeyScheme, roles: readonly RoleSecret[]): readonly Key[] {
  return roles.map(({ role, secret }) => ({
    role,
    secret,
    matches: keyMatcher(scheme, publicKey(secret, scheme.kind)),
  }));
}

function textVerifier(
  scheme: TextScheme,
  keys: readonly Key[],
): (request: SignedRequest) => Verification {
  const check = checker(scheme);
  return (request) => check(request, sourceOf(request), keys);
}

/** Verifies with a key that the service publishes. Synchronous while the key is cached. */
function fetchingVerifier(
  scheme: PublicKeyScheme,
  keySource: KeySource,
  roles: readonly RoleSecret[],
  keys: KeyStore,
): Verify {
  const check = checker(scheme);
  const findUrl = keySource.from === undefined ? () => keySource.url : lookup(keySource.from);
  const readClaims = claimReader(scheme);
  return (request) => {
    const source = sourceOf(request);
    // What is not signed at all must not cause a fetch.
    const claims = readClaims(source, request.receivedAtMs);
    if (!claims.some((claim) => "signatures" in claim)) return check(request, source, []);
    const url = exactText(findUrl(source));
    const [first] = roles;
    if (url === null || first === undefined) return untrusted;
    const wanted = { url, kid: null, secret: first.secret };
    const found = keys.find(keySource, wanted);
    const verify = (published: readonly PublishedKey[] | null): Verification => {
      const fitting = fittingKeys(published, scheme.kind, (alg) =>
        algorithms[scheme.kind].test(alg),
      );
      if (fitting.length === 0) return untrusted;
      const bound = fitting.flatMap((key) => {
        const matches = keyMatcher(scheme, key);
        return roles.map((role) => ({ ...role, matches }));
      });
      const result = check(request, source, bound);
      if ("verified" in result) keys.confirm(keySource, wanted);
      return result;
    };
    return found instanceof Promise ? found.then(verify) : verify(found);
  };
}

/** The algorithms of JSON Web Keys (RFC 7518, RFC 8037) that a kind of signature uses. */
const algorithms = {
  ed25519: /^(?:EdDSA|Ed25519)$/,
  "ecdsa-p256": /^ES256$/,
  "rsa-pkcs1": /^RS/,
  "rsa-pss": /^PS/,
} as const;

const missing: Verification = { rejection: "missing-signature" };
const untrusted: Verification = { rejection: "untrusted-key" };

type Check = (request: SignedRequest, source: PlaceSource, keys: readonly Key[]) => Verification;

/** Every place of the signature that was sent must verify. */
function checker(scheme: TextScheme): Check {
  const readClaims = claimReader(scheme);
  const judge = claimJudge(scheme);
  return (request, source, keys) => {
    let verified: Verification | null = null;
    for (const claim of readClaims(source, request.receivedAtMs)) {
      const result = "rejection" in claim ? claim : judge(claim, request, source, keys);
      if ("rejection" in result) return result;
      verified ??= result;
    }
    return verified ?? missing;
  };
}

/** Finds the secret and the text that match a signature. Tries every combination, for constant time. */
function claimJudge(scheme: TextScheme) {
  const texts = signedTexts(scheme);
  const findId = scheme.id === undefined ? null : lookup(scheme.id);
  const findSecret =
    "secretAt" in scheme && scheme.secretAt !== undefined ? lookup(scheme.secretAt) : null;
  return (
    { signatures, timestamp, isStale }: Claim,
    request: SignedRequest,
    source: PlaceSource,
    keys: readonly Key[],
  ): Verification => {
    const { bytes, method } = request;
    const id = findId === null ? null : exactText(findId(source));
    const body = signedBody(bytes);
    const tried = textsFor(texts, body);
    let match: Match | null = null;
    for (const { role, secret, matches } of keys) {
      const isBound = findSecret === null || sameText(exactText(findSecret(source)) ?? "", secret);
      for (const text of tried) {
        const { headers, url, payload } = source;
        const parts = { headers, url, payload, body, method, timestamp, id, secret };
        const pieces = text.pieces(parts);
        if (pieces === null) return { rejection: "missing-signed-value" };
        if (matches(pieces, signatures) && isBound) match ??= { role, text, pieces };
      }
    }
    if (match === null) return { rejection: "wrong-signature" };
    if (isStale) return { rejection: "stale-timestamp" };
    return { verified: { bytes, ...signedOf(match, body), signedWith: match.role } };
  };
}

interface Match {
  readonly role: SecretRole;
  readonly text: SignedText;
  readonly pieces: readonly Piece[];
}

type Signed = Pick<Verified, "signedBytes" | "signedContext">;

/** What identifies the request: it cannot change without another signature. */
function signedOf({ text, pieces }: Match, body: SignedBody): Signed {
  if (!text.coversBytes) {
    const signedBytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    return { signedBytes, signedContext: "" };
  }
  // The body is the only piece that is not a text.
  let signedContext = "";
  for (const piece of pieces) if (typeof piece === "string") signedContext += `${piece}\n`;
  return { signedBytes: text.isCompact ? body.compact() : body.bytes, signedContext };
}

/** The texts that differ for this body: it may be compact already. */
function textsFor(texts: readonly SignedText[], body: SignedBody): readonly SignedText[] {
  if (texts.length === 1) return texts;
  const isSame = () => body.compact().length === body.bytes.length;
  return texts.filter(({ isCompact }) => !isCompact || !isSame());
}
