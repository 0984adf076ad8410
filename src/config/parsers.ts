import { isLoopback } from "../base/loopback.ts";
import { hookPath } from "../inbound/provider-api/github.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";

// Parsers of settings. Each throws an `Error` whose message completes "KEY must be …".

export function text(value: string): string {
  return value;
}

export function integer(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`a whole number from ${least} to ${most}, not "${value}"`);
    }
    return number;
  };
}

/** The error does not quote the text: a URL may contain a password, or a key in its path or query. */
export function webUrl(value: string): string {
  if (/^https?:\/\/\S+$/.test(value) && URL.parse(value) !== null) return value;
  throw new Error("an http or https URL, like https://host.example.com/path");
}

/** A base URL, to which paths are added. */
export function webUrlWithoutQuery(value: string): string {
  if (/[?#]/.test(value)) throw new Error("a URL without a query");
  return webUrl(value);
}

/** A base URL without the slash at its end. */
export function baseUrl(value: string): string {
  return webUrlWithoutQuery(value).replace(/\/+$/, "");
}

/** The base URL of an API that receives a token. */
export function apiUrl(value: string): string {
  const url = baseUrl(value);
  const { protocol, username, password } = new URL(url);
  if ((protocol === "https:" || isLoopback(url)) && username + password === "") return url;
  throw new Error("an https URL without a user name, or an http URL of this machine");
}

/** The URL of an OpenID provider. Keeps a slash at its end, which is a part of the issuer's name. */
export function issuerUrl(value: string): string {
  webUrlWithoutQuery(apiUrl(value));
  return value;
}

/** Claims about a person (OpenID Connect Core 1.0, 5.1), and what issuers let users write. */
const personalClaims =
  /^(?:sub|(?:cognito:)?username|upn|unique_name|(?:user|unsafe)_metadata|name|(?:given|family|middle)_name|nickname|preferred_username|profile|picture|website|email|gender|birthdate|zoneinfo|locale|phone_number|address)(?:\.|$)/;

export function claimName(value: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(value)) return value;
  throw new Error("the name of a claim, of at most 200 characters");
}

/** Whether users may be able to set the claim themselves. */
export function isPersonalClaim(path: string): boolean {
  return personalClaims.test(path);
}

/** The name of a claim, or the path of a nested one, that grants roles. */
export function rolesClaim(value: string): string {
  if (!isPersonalClaim(claimName(value))) return value;
  throw new Error(`a claim that only administrators set, not "${value}"`);
}

/** Media types of tokens, without `application/` (RFC 7515, 4.1.9). */
export function tokenTypes(value: string): readonly string[] {
  const types = value.split(",").map((type) => type.trim().toLowerCase());
  if (types.every((type) => /^[a-z0-9+.-]+$/.test(type))) return types;
  throw new Error(`a list like at+jwt,jwt, not "${value}"`);
}

/** The error does not quote the text, which is a secret. */
export function apiToken(value: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(value)) return value;
  throw new Error("a token without spaces, of letters, digits and punctuation");
}

export function githubHook(value: string): string {
  if (hookPath.test(value) && !value.split("/").some((part) => /^\.+$/.test(part))) return value;
  throw new Error(`repos/OWNER/REPO/hooks/ID or orgs/ORG/hooks/ID, not "${value}"`);
}

const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/** The error does not quote the text: a URL may contain a password. */
export function databaseUrl(value: string): string {
  if (/^sqlite:.+/.test(value)) return value;
  const url = URL.parse(value);
  if (!/^postgres(ql)?:\/\//.test(value) || url === null || !isWhole(url)) {
    throw new Error(
      "like sqlite:./data/skyhook.db or postgres://user:password@host:5432/database, with one host, and with special characters of the password percent-encoded",
    );
  }
  const sslMode = url.searchParams.get("sslmode") ?? "disable";
  if (!sslModes.includes(sslMode)) throw new Error(`with an sslmode of ${sslModes.join(", ")}`);
  return value;
}

/** Whether the URL names one host and a database, neither of which contains a part of the password. */
function isWhole({ username, password, hostname, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname);
  } catch {
    return false;
  }
  return pathname.length > 1 && !pathname.includes("@") && !hostname.includes(",");
}

export function oneOf<const Choice extends string>(
  ...choices: Choice[]
): (value: string) => Choice {
  return (value) => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`one of ${choices.join(", ")}, not "${value}"`);
    return choice;
  };
}

/** A list of these words, separated by commas. */
export function wordsOf<const Word extends string>(
  ...words: Word[]
): (value: string) => readonly Word[] {
  const parse = oneOf(...words);
  return (value) => value.split(",").map((word) => parse(word.trim()));
}

export function flag(value: string): boolean {
  return oneOf("true", "false")(value) === "true";
}

export function atLeastBytes(least: number): (value: string) => string {
  return (value) => {
    const bytes = Buffer.byteLength(value);
    if (bytes < least) throw new Error(`${least} bytes or more; it has ${bytes}`);
    return value;
  };
}

const keyBytes = 32;

/** The error does not quote the text, which is a secret. */
export function base64Key(value: string): Uint8Array {
  const key = Buffer.from(value, "base64");
  if (key.length === keyBytes) return key;
  throw new Error(
    `the base64 of ${keyBytes} bytes: create one with openssl rand -base64 ${keyBytes}`,
  );
}

export function providerIds(value: string): readonly string[] {
  const ids = [...new Set(value.split(",").map((id) => id.trim()))].filter((id) => id !== "");
  const known = catalogue.map((provider) => provider.id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw new Error(`a list of ${known.join(", ")}; "${unknown}" is unknown`);
  return ids;
}

/** Exact origins (RFC 6454 section 6.2). A wildcard is not accepted. */
export function origins(value: string): readonly string[] {
  const listed = value.split(",").map((origin) => origin.trim());
  return listed.filter((origin) => {
    const isExact = URL.parse(origin)?.origin === origin && !origin.includes("*");
    if (origin !== "" && !isExact) {
      throw new Error(`exact origins, like https://app.example.com, not "${origin}"`);
    }
    return origin !== "";
  });
}

export function ratio(value: string): number {
  const number = Number(value);
  if (/^\d*\.?\d+$/.test(value) && number <= 1) return number;
  throw new Error(`a number from 0 to 1, not "${value}"`);
}

/** `key=value,…`, percent-encoded: OpenTelemetry's format for maps in environment variables (W3C Baggage). */
export function pairs(value: string): Readonly<Record<string, string>> {
  const entries = value
    .split(",")
    .filter((pair) => pair.trim() !== "")
    .map((pair) => {
      const [, key, text = ""] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      const decoded = percentDecoded(text);
      // The error does not quote the text: it may be a key.
      if (key === undefined || decoded === null) throw new Error("like name=value,other=value");
      return [key, decoded] as const;
    });
  return Object.fromEntries(entries);
}

function percentDecoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

export function headerPairs(value: string): Readonly<Record<string, string>> {
  const headers = pairs(value);
  for (const [name, text] of Object.entries(headers)) {
    const isHeader = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && /^[ -~]*$/.test(text);
    if (!isHeader)
      throw new Error("like name=value,other=value, with characters that HTTP headers allow");
  }
  return headers;
}

/** The key bytes of a secret in the format of the Standard Webhooks specification. */
export function standardWebhooksSecret(value: string): Uint8Array {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(value)?.[1];
  const key = Buffer.from(encoded ?? "", "base64");
  if (key.length < 24 || key.length > 64) {
    throw new Error("`whsec_` and the base64 of 24 to 64 bytes");
  }
  return key;
}

/** Refund rates by hours before departure, most hours first. */
export function refundSteps(value: string): readonly { moreThanHours: number; percent: number }[] {
  const steps = value.split(",").map((step) => {
    const [, hours, percent] = /^\s*(\d{1,4}):(\d{1,3})\s*$/.exec(step) ?? [];
    if (hours === undefined || Number(percent) > 100) throw new Error("like 72:90,24:50");
    return { moreThanHours: Number(hours), percent: Number(percent) };
  });
  return steps.toSorted((one, other) => other.moreThanHours - one.moreThanHours);
}
