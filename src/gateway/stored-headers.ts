/**
 * Headers whose values are kept beside those that a provider reads: they say what was sent, by what and
 * by which way. An allow-list, since credentials come under names that nobody can list.
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

/** Names kept of one rejected delivery. */
const maxNames = 64;
const maxValueLength = 512;

type Kept = Readonly<Record<string, string>>;

/** Headers by lower-case name, fit to keep and to show: `plainHeaders` and `readHeaders`, cut. */
export function withoutSecrets(headers: Headers, readHeaders: readonly string[] = []): Kept {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!plainHeaders.has(name) && !readHeaders.includes(name)) continue;
    kept[name] = value.slice(0, maxValueLength);
  }
  return kept;
}

/** Names of all headers, each without its value: they help to find out why a delivery was refused. */
export function withoutValues(headers: Headers): Kept {
  const names = [...headers.keys()].slice(0, maxNames);
  return Object.fromEntries(names.map((name) => [name, ""]));
}
