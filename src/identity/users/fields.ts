import { FormatRegistry, Type } from "@sinclair/typebox";

/** No white space, and nothing that cannot be seen: control characters, those that turn text around. */
const seen = String.raw`[^\s@\p{C}]`;
const email = new RegExp(`^${seen}{1,64}@${seen}+\\.[^\\s@.\\p{C}]+$`, "u");
// JSON Schema's name for addresses with letters beyond ASCII (RFC 6531).
FormatRegistry.Set("idn-email", (text) => email.test(text));

/** An address as people have them: one @, a dot in the domain, 254 characters at most. */
export const emailSchema = Type.String({
  format: "idn-email",
  maxLength: 254,
  description: "An e-mail address. One with letters beyond ASCII is kept in lower case.",
  errorMessage: "An e-mail address of up to 254 characters",
  examples: ["ada@example.com"],
});

/**
 * An address in the form that is stored. SQLite compares without regard to the case of ASCII letters
 * alone, so an address with others is in lower case and composed (NFC).
 */
export function storedEmail(text: string): string {
  return /^\p{ASCII}*$/u.test(text) ? text : text.normalize("NFC").toLowerCase();
}

/** A name: at least one character that is not white space, no control characters. */
export const nameSchema = (maxLength: number, example: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    // Linear on any text: it is also run on those that are far too long.
    pattern: "^(?!\\s*$)[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    errorMessage: `1 to ${maxLength} characters, without control characters`,
    description: `1 to ${maxLength} characters, without control characters.`,
    examples: [example],
  });
