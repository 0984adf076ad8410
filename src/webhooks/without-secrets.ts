/** Header names whose values may let someone in, or let a delivery be forged. */
const secretNames = /authorization|cookie|token|secret|signature|hmac|password|api-?key|credential/;

const maxHeaders = 64;
const maxValueLength = 512;

/** Headers by lower-case name, fit to keep and to show: without secrets and the named ones, capped. */
export function withoutSecrets(
  headers: Headers,
  except: readonly string[],
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  let count = 0;
  for (const [name, value] of headers) {
    if (count === maxHeaders) break;
    if (secretNames.test(name) || except.includes(name)) continue;
    kept[name] = value.slice(0, maxValueLength);
    count += 1;
  }
  return kept;
}
