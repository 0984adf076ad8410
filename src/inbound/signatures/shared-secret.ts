import { sameText } from "../../base/crypto.ts";
import { exactText, lookup } from "../../base/place.ts";

import { sourceOf } from "./payload-reader.ts";
import type { BasicAuthScheme, SharedSecretScheme } from "./scheme.schema.ts";
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
 * and anyone who sees one request can forge others.
 */
export function tokenVerifier(
  scheme: SharedSecretScheme | BasicAuthScheme,
  secrets: readonly RoleSecret[],
): (request: SignedRequest) => Verification {
  const read = scheme.kind === "basic-auth" ? readBasic : secretReader(scheme);
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
