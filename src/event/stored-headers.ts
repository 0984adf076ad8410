import { viaHeader } from "./via.ts";

/**
 * Headers whose values are stored in addition to those that the provider reads: they describe the body, the
 * client and the proxies. The length is that of the body. An allow-list, because credentials can come under any name.
 */
const plainHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "cf-ray",
  "content-encoding",
  "content-type",
  "date",
  "expect",
  "forwarded",
  "host",
  viaHeader,
  "traceparent",
  "tracestate",
  "transfer-encoding",
  "true-client-ip",
  "user-agent",
  "via",
  "x-amzn-trace-id",
  "x-cloud-trace-context",
  "x-correlation-id",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "x-request-id",
]);

/** Header names stored per rejected request. */
const maxNames = 64;
/** A signature by an RSA key of 4,096 bits has 684 characters. */
const maxValueLength = 1_024;

type Kept = Readonly<Record<string, string>>;

/** The headers that are safe to store and show, by lower-case name: `plainHeaders` and `readHeaders`, truncated. */
export function withoutSecrets(headers: Headers, readHeaders: readonly string[] = []): Kept {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!plainHeaders.has(name) && !readHeaders.includes(name)) continue;
    kept[name] = value.slice(0, maxValueLength);
  }
  return kept;
}

/** Stored with a request: which of its provider's signature headers it came under, counted from 1. */
const signatureHeader = "skyhook-signature-header";

/** Stored with a request: the part of its URL's query that its provider reads. */
export const queryHeader = "skyhook-query";

/**
 * Which of the provider's signature headers a request came under, so that it can be sent on under the same name. Empty
 * for the last one, which is the service's own: most come under it.
 */
export function signaturePosition(headers: Headers, names: readonly string[]): Kept {
  const own = names.at(-1);
  if (own === undefined || headers.has(own)) return {};
  const index = names.findIndex((name) => headers.has(name));
  return index < 0 ? {} : { [signatureHeader]: String(index + 1) };
}

/** The stored headers of a request that it had itself, and the name that its signature came under. */
export function splitStored(
  { [signatureHeader]: position, [queryHeader]: _query, ...headers }: Kept,
  names: readonly string[],
): { readonly headers: Kept; readonly signedAs: string | undefined } {
  return { headers, signedAs: names[Number(position) - 1] ?? names.at(-1) };
}

/** The names of all headers, without values: they help to explain why a request was rejected. */
export function withoutValues(headers: Headers): Kept {
  const names = [...headers.keys()].slice(0, maxNames);
  return Object.fromEntries(names.map((name) => [name, ""]));
}
