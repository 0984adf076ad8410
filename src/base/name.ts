/** Characters that names must not contain: line breaks, control characters, lone surrogates and bidirectional overrides. */
const refused = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069`;

/** Characters that show nothing by themselves: besides Unicode's classes, the blank signs of Braille, music and hieroglyphs. */
const invisible = String.raw`\s\p{Z}\p{M}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}`;

const name = new RegExp(`^(?=[${invisible}]*[^${invisible}])[^${refused}]+$`, "u");

/** The pattern of names. JSON Schema reads patterns with the flag `u` (draft 2020-12, Core 6.4). */
export const namePattern = name.source;

/** What a name must be, for messages. */
export const nameRule = (maxLength: number) =>
  `1 to ${maxLength} characters, not all invisible, without control characters or bidirectional overrides`;

/**
 * Whether people can read this text as a name or a note: it shows something, is on one line, and has at most `maxLength`
 * characters (code points, as JSON Schema counts them). Joiners between letters, as in Persian and emoji, are part of a name.
 */
export function isName(text: string, maxLength: number): boolean {
  // A code point has at most two code units: longer texts are not read.
  return text.length <= 2 * maxLength && name.test(text) && Array.from(text).length <= maxLength;
}
