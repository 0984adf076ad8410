/**
 * Headers whose values are stored in addition to those that the provider reads: they describe the body, the
 * client and the proxies. An allow-list, because credentials can come under any name.
 */
const plainHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "cf-ray",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "expect",
  "forwarded",
  "host",
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

/** Header names stored per rejected delivery. */
const maxNames = 64;
const maxValueLength = 512;

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

/** The names of all headers, without values: they help to explain why a delivery was rejected. */
export function withoutValues(headers: Headers): Kept {
  const names = [...headers.keys()].slice(0, maxNames);
  return Object.fromEntries(names.map((name) => [name, ""]));
}
