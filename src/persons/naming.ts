/** What of a person a text contains, the surest first. A name alone may be another person's. */
export const namedBy = ["email", "id", "name"] as const;
export type NamedBy = (typeof namedBy)[number];

/** Finds a person in texts. */
export interface Naming {
  /** The surest of what is found; null if nothing is. */
  find(text: string): NamedBy | null;
  /** Replaces what is found in all texts of a JSON value. */
  redact(value: unknown): unknown;
}

/** Replaces a person in a text. */
const redacted = "[erased]";
/** Shorter names would be found in too many texts. */
const minNameLength = 5;
/** So would shorter ids: an identity provider may count its users. */
const minIdLength = 12;

interface Terms {
  readonly email: string | null;
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

/**
 * Case does not matter. An address or id is only found as a whole: `ada@example.com` is not in `miranda@example.com`.
 * Escapes of JSON, URLs and forms are decoded first.
 */
export function namingOf({ email, ids, names }: Terms): Naming {
  const patterns = [
    ["email", patternOf(email === null ? [] : [email])],
    ["id", patternOf(ids.filter((id) => id.length >= minIdLength))],
    ["name", patternOf(names.filter((name) => name.length >= minNameLength))],
  ] as const;
  const find: Naming["find"] = (text) => {
    const decoded = decode(text);
    return (
      patterns.find(([, pattern]) => pattern !== null && decoded.search(pattern) >= 0)?.[0] ?? null
    );
  };
  const redactText = (text: string) => {
    const left = patterns.reduce(
      (result, [, pattern]) => (pattern === null ? result : result.replaceAll(pattern, redacted)),
      text,
    );
    // Found only between escapes.
    return find(left) === null ? left : redacted;
  };
  const redact: Naming["redact"] = (value) => {
    if (typeof value === "string") return redactText(value);
    if (Array.isArray(value)) return value.map(redact);
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    const entries = Object.entries(value).map(([key, each]) => [redactText(key), redact(each)]);
    return Object.fromEntries(entries);
  };
  return { find, redact };
}

/** What an e-mail address or id continues with, before and after. Not `+`, which is a space in a form. */
const inside = String.raw`[\p{L}\p{N}._%-]`;
const beyond = String.raw`[\p{L}\p{N}_-]|\.[\p{L}\p{N}]`;

function patternOf(terms: readonly string[]): RegExp | null {
  const used = terms.filter((term) => term !== "");
  if (used.length === 0) return null;
  const words = used.map((term) =>
    RegExp.escape(term.normalize("NFC")).replaceAll(/\\x20| /g, "\\s+"),
  );
  return new RegExp(`(?<!${inside})(?:${words.join("|")})(?!${beyond})`, "giu");
}

/** The text with its escapes `\u0040` and `%40` decoded, so that it can be searched. */
function decode(text: string): string {
  const plain = text.includes("\\u")
    ? text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : text;
  const whole = plain.includes("%")
    ? plain.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
        Buffer.from(escapes.replaceAll("%", ""), "hex").toString(),
      )
    : plain;
  return whole.normalize("NFC");
}
