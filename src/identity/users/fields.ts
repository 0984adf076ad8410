import { FormatRegistry, Type } from "@sinclair/typebox";

/** A visible character other than @: no white space, control character or bidirectional override. */
const visible = String.raw`[^\s@\p{C}]`;
const email = new RegExp(`^${visible}{1,64}@${visible}+\\.[^\\s@.\\p{C}]+$`, "u");
// JSON Schema's name for e-mail addresses with non-ASCII letters (RFC 6531).
FormatRegistry.Set("idn-email", (text) => email.test(text));

/** A pragmatic check: one @, a dot in the domain, at most 254 characters. */
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

/** A name: at least one character other than white space, no control characters. */
export const nameSchema = (maxLength: number, example: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    // Runs in linear time: the pattern is also matched against texts that are far too long.
    pattern: "^(?!\\s*$)[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    errorMessage: `1 to ${maxLength} characters, without control characters`,
    description: `1 to ${maxLength} characters, without control characters.`,
    examples: [example],
  });
