import { type JsonObject, objectAt, textAt } from "../../base/payload.ts";
import { splitStored } from "../../event/stored-headers.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import {
  type DevelopmentSecret,
  developmentSecret,
  signingKeyWith,
} from "../../inbound/signatures/development-secret.ts";
import { readHeadersOf, signatureHeaders, signedUnder } from "../../inbound/signatures/scheme.ts";
import { signedHeaders } from "../../inbound/signatures/sign.ts";
import { messageOf } from "../errors.ts";

/** A delivery as received from the server. */
export interface ReceivedDelivery {
  readonly id: string;
  readonly provider: string;
  readonly type: string;
  /** Stored headers by lower-case name. The server stores no signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if retention deleted it. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** Null if it is not a delivery. */
export function deliveryIn(event: JsonObject): ReceivedDelivery | null {
  const [id, provider, type] = ["id", "provider", "type"].map((name) => textAt(event, name));
  if (!id || !provider || !type) return null;
  const { body, bodyEncoding } = event;
  const headers = Object.entries(objectAt(event, "receipt", "headers")).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const encoding = bodyEncoding === "base64" ? "base64" : "utf-8";
  const bytes = typeof body === "string" ? new Uint8Array(Buffer.from(body, encoding)) : null;
  return { id, provider, type, headers: Object.fromEntries(headers), bytes };
}

/** Headers that belong to one connection (RFC 9110 section 7.6.1) or that `fetch` sets. */
const connectionHeaders = [
  "connection",
  "content-length",
  "expect",
  "host",
  "transfer-encoding",
  "accept-encoding",
];

export interface LocalRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Why the request has no signature; null if it has one. */
  readonly unsigned: string | null;
}

/**
 * The headers to send with a delivery: those that the provider reads, and a fresh signature with a throwaway
 * secret, under the name that the delivery came with, or else the service's own. `withAll`: the other stored headers too. `url`: the local address, for schemes that sign it.
 */
export function localRequest(
  { headers: kept, bytes }: ReceivedDelivery,
  provider: Provider | undefined,
  secret: DevelopmentSecret | null,
  { url, withAll }: { readonly url: string; readonly withAll: boolean },
): LocalRequest {
  const scheme = provider?.signature;
  const signatures = scheme === undefined ? [] : signatureHeaders(scheme);
  const { headers: stored, signedAs } = splitStored(kept, signatures);
  const read = [
    "content-type",
    ...(provider?.readHeaders ?? []),
    ...(scheme === undefined ? [] : readHeadersOf(scheme)),
  ];
  const headers = Object.fromEntries(
    Object.entries(stored).filter(
      ([name]) =>
        !connectionHeaders.includes(name) &&
        !signatures.includes(name) &&
        (withAll || provider === undefined || read.includes(name)),
    ),
  );
  if (scheme === undefined) return { headers, unsigned: "this program does not know the provider" };
  if (secret === null) return { headers, unsigned: "only the service can sign" };
  try {
    const request = { method: "POST", url, headers, bytes: bytes ?? new Uint8Array() };
    const under = signedAs === undefined ? scheme : signedUnder(scheme, signedAs);
    const added = signedHeaders(under, signingKeyWith(secret), request, Date.now());
    return { headers: { ...headers, ...added }, unsigned: null };
  } catch (error) {
    return { headers, unsigned: messageOf(error) };
  }
}

/** A throwaway secret for a provider, or null if only the service can sign. */
export function throwawaySecret({ signature, secretPrefix }: Provider): DevelopmentSecret | null {
  return developmentSecret(signature, secretPrefix);
}
