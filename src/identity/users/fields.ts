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

/**
 * Characters that show nothing: white space, those that Unicode calls ignorable (Default_Ignorable_Code_Point), and the
 * blank pattern of Braille. JSON Schema's patterns know no property names.
 */
const invisible =
  "(?:[\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8]|\\udb40[\\udc00-\\udfff])";

/** A name: at least one character that shows something, no control characters. */
export const nameSchema = (maxLength: number, example: string) =>
  Type.String({
    // Runs in linear time: the pattern is also matched against texts that are far too long.
    pattern: `^(?!${invisible}*$)${character}{1,${maxLength}}$`,
    errorMessage: `1 to ${maxLength} characters, not all invisible, without control characters`,
    description: `1 to ${maxLength} characters, not all invisible, without control characters.`,
    examples: [example],
  });
