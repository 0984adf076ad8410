import { sameText } from "../../base/crypto.ts";
import { exactText, lookup } from "../../base/place.ts";

import { sourceOf } from "./payload-reader.ts";
import type { BasicAuthScheme, SharedSecretScheme, UrlScheme } from "./scheme.schema.ts";
import type {
  RoleSecret,
  SignatureRejection,
  SignedRequest,
  Verification,
} from "./signed-request.ts";

type ReadSecret = (
  request: SignedRequest,
) => { readonly sent: string | Uint8Array } | { readonly rejection: SignatureRejection };

/**
 * Verifies secrets that are sent with each request. They are weaker than signatures: they do not cover the body,
 * and anyone who sees one request can forge others. Throws on a secret that the end of a URL cannot be.
 */
export function tokenVerifier(
  scheme: SharedSecretScheme | BasicAuthScheme | UrlScheme,
  secrets: readonly RoleSecret[],
): (request: SignedRequest) => Verification {
  if (scheme.kind === "url") requireUnguessable(secrets);
  const read = readerOf(scheme);
  return (request) => {
    const found = read(request);
    if ("rejection" in found) return found;
    const matches = secrets.filter(({ secret }) => sameText(found.sent, secret));
    const [match] = matches;
    if (match === undefined) return { rejection: "wrong-signature" };
    const { bytes } = request;
    return { verified: { bytes, signedBytes: bytes, signedContext: "", signedWith: match.role } };
  };
}

function readerOf(scheme: SharedSecretScheme | BasicAuthScheme | UrlScheme): ReadSecret {
  if (scheme.kind === "url") return readUrl;
  return scheme.kind === "basic-auth" ? readBasic : secretReader(scheme);
}

/** Of hexadecimal digits, 128 bits. */
const leastUrlSecretLength = 32;

function requireUnguessable(secrets: readonly RoleSecret[]): void {
  const isUsable = ({ secret }: RoleSecret) =>
    secret.length >= leastUrlSecretLength && /^[\w-]{1,200}$/.test(secret);
  if (secrets.every(isUsable)) return;
  throw new Error(
    `must have ${leastUrlSecretLength} to 200 letters, digits, - or _, since it is a part of the URL`,
  );
}

const readUrl: ReadSecret = ({ url }) => {
  const [path = ""] = url.split("?", 1);
  const [, sent] = /\/webhooks\/[^/]+\/([^/]+)\/?$/.exec(path) ?? [];
  return sent === undefined ? { rejection: "missing-signature" } : { sent };
};

function secretReader({ from, prefix = "" }: SharedSecretScheme): ReadSecret {
  const find = lookup(from);
  return (request) => {
    const value = find(sourceOf(request));
    if (value === undefined) return { rejection: "missing-signature" };
    const text = exactText(value) ?? "";
    if (!text.startsWith(prefix) || text === prefix) return { rejection: "malformed-signature" };
    return { sent: text.slice(prefix.length) };
  };
}

/** RFC 7617. The name of the scheme has any case. */
const readBasic: ReadSecret = ({ headers }) => {
  const value = headers.get("authorization");
  if (value === null) return { rejection: "missing-signature" };
  const [, encoded = ""] = /^basic +([A-Za-z0-9+/]{1,2000}={0,2})$/i.exec(value) ?? [];
  const sent = Buffer.from(encoded, "base64");
  const isCanonical = encoded !== "" && sent.toString("base64") === encoded;
  return isCanonical ? { sent } : { rejection: "malformed-signature" };
};
