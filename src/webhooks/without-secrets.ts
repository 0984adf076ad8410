/** Header names whose values may let someone in, or let a delivery be forged. */
const secretNames = /authorization|cookie|token|secret|signature|hmac|password|api-?key|credential/;

/** What was found of names seen before: services send the same few again and again. */
const knownNames = new Map<string, boolean>();
const maxKnownNames = 1_000;

function isSecret(name: string): boolean {
  let secret = knownNames.get(name);
  if (secret === undefined) {
    secret = secretNames.test(name);
    if (knownNames.size < maxKnownNames) knownNames.set(name, secret);
  }
  return secret;
}

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
    if (isSecret(name) || except.some((other) => isName(other, name))) continue;
    kept[name] = value.length > maxValueLength ? value.slice(0, maxValueLength) : value;
    count += 1;
  }
  return kept;
}

/** Whether a name in any case is one in lower case; most differ in length, and cost no copy. */
function isName(any: string, lowerCase: string): boolean {
  return any.length === lowerCase.length && any.toLowerCase() === lowerCase;
}
