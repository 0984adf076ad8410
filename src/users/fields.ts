import { Type } from "@sinclair/typebox";

/** An address as people have them: one @, no white space or control characters, 254 characters at most. */
export const emailSchema = Type.String({
  format: "email",
  maxLength: 254,
  pattern:
    "^[^\\s@\\u0000-\\u001f\\u007f-\\u009f]{1,64}@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+\\.[^\\s@\\u0000-\\u001f\\u007f-\\u009f.]+$",
  description: "An e-mail address.",
  errorMessage: "An e-mail address",
  examples: ["ada@example.com"],
});

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
