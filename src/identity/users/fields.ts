import { FormatRegistry, Type } from "@sinclair/typebox";

/** A visible character other than @: no white space, control character or bidirectional override. */
const visible = String.raw`[^\s@\p{C}]`;
const email = new RegExp(`^${visible}+@${visible}+\\.[^\\s@.\\p{C}]+$`, "u");
// JSON Schema's name for e-mail addresses with non-ASCII letters (RFC 6531).
FormatRegistry.Set("idn-email", (text) => email.test(text));

/**
 * A pragmatic check: one @, a dot in the domain, at most 254 characters. A local part of more than 64 characters (RFC 5321,
 * 4.5.3.1.1) is accepted: its own mail server decides.
 */
export const emailSchema = Type.String({
  format: "idn-email",
  maxLength: 254,
  description: "An e-mail address. An address with non-ASCII letters is stored in lower case.",
  errorMessage: "An e-mail address of up to 254 characters",
  examples: ["ada@example.com"],
});

/**
 * Normalizes an address for storage. SQLite's `lower()` handles ASCII letters only, so an address with other
 * letters is stored in lower case and composed (NFC).
 */
export function storedEmail(text: string): string {
  return /^\p{ASCII}*$/u.test(text) ? text : text.normalize("NFC").toLowerCase();
}

/**
 * One character, control characters excepted. Half of a surrogate pair is one only by itself, so that a pair is not
 * counted as two, as `maxLength` would do, and no text is matched in two ways.
 */
const character =
  "(?:[\\ud800-\\udbff](?:[\\udc00-\\udfff]|(?![\\udc00-\\udfff]))|[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udbff])";

/** A name: at least one character other than white space, no control characters. */
export const nameSchema = (maxLength: number, example: string) =>
  Type.String({
    // Runs in linear time: the pattern is also matched against texts that are far too long.
    pattern: `^(?!\\s*$)${character}{1,${maxLength}}$`,
    errorMessage: `1 to ${maxLength} characters, without control characters`,
    description: `1 to ${maxLength} characters, without control characters.`,
    examples: [example],
  });
