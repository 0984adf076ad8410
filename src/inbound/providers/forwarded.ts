import { errorMessage } from "../../base/errors.ts";
import { splitStored } from "../../event/stored-headers.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { readHeadersOf, signatureHeaders, signedUnder } from "../signatures/scheme.ts";
import { signedHeaders } from "../signatures/sign.ts";

import type { Provider } from "./provider.ts";

/** Headers that belong to one connection (RFC 9110 section 7.6.1) or that `fetch` sets. */
const connectionHeaders = [
  "connection",
  "content-length",
  "expect",
  "host",
  "transfer-encoding",
  "accept-encoding",
];

/** The headers of a request that is sent on. */
interface Forwarded {
  readonly headers: Readonly<Record<string, string>>;
  /** Why the request has no new signature; null if it has one. */
  readonly unsigned: string | null;
}

/** A request as it was stored. */
interface StoredRequest {
  /** By lower-case name. Signatures that a secret has made are not stored. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

interface Options {
  /** Where it is sent, for schemes that sign it. */
  readonly url: string;
  /** The signed time, if the scheme has one. */
  readonly atMs: number;
  /** Whether the other stored headers are sent too, such as `user-agent`. */
  readonly withAll?: boolean;
}

/**
 * The headers to send a stored request on with: those that the provider reads, and a new signature under the name that
 * the request came with, or else the service's own. `key`: null where only the service can sign; a signature that
 * everybody may know is then sent as it came.
 */
export function forwarded(
  { headers: kept, bytes }: StoredRequest,
  provider: Provider | undefined,
  key: SigningKey | null,
  { url, atMs, withAll = false }: Options,
): Forwarded {
  const scheme = provider?.signature;
  const signatures = scheme === undefined ? [] : signatureHeaders(scheme);
  const { headers: stored, signedAs } = splitStored(kept, signatures);
  const read = [
    "content-type",
    // Of two signatures both would have to verify.
    ...(key === null ? signatures : []),
    ...(provider?.readHeaders ?? []),
    ...(scheme === undefined ? [] : readHeadersOf(scheme)),
  ];
  const headers = Object.fromEntries(
    Object.entries(stored).filter(
      ([name]) =>
        !connectionHeaders.includes(name) &&
        (key === null || !signatures.includes(name)) &&
        (withAll || provider === undefined || read.includes(name)),
    ),
  );
  if (scheme === undefined) return { headers, unsigned: "this program does not know the provider" };
  if (key === null) return { headers, unsigned: "only the service can sign" };
  try {
    const request = { method: "POST", url, headers, bytes };
    const under = signedAs === undefined ? scheme : signedUnder(scheme, signedAs);
    return { headers: { ...headers, ...signedHeaders(under, key, request, atMs) }, unsigned: null };
  } catch (error) {
    return { headers, unsigned: errorMessage(error) };
  }
}
