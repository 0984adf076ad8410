import { FormatRegistry, Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";

import { isName, namePattern, nameRule } from "../../base/name.ts";

/** Not in an address: white space, control characters, bidirectional overrides, and what shows nothing. */
const refused = String.raw`\s@\p{C}\p{Default_Ignorable_Code_Point}`;
const email = new RegExp(`^[^${refused}]+@[^${refused}]+\\.[^.${refused}]+$`, "u");
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

TypeRegistry.Set<TSchema>(
  "Name",
  ({ maxLength }, value) => typeof value === "string" && isName(value, Number(maxLength)),
);

/** A name, or another text of one line that a person reads. */
export const nameSchema = (
  maxLength: number,
  example: string,
  description = `${nameRule(maxLength)}.`,
) =>
  Type.Unsafe<string>({
    // TypeBox's own strings match patterns without the flag `u`, and count code units.
    [Kind]: "Name",
    type: "string",
    minLength: 1,
    maxLength,
    pattern: namePattern,
    errorMessage: nameRule(maxLength),
    description,
    examples: [example],
  });
