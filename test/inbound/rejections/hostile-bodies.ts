/** Nested JSON arrays, with `inside` in the innermost. */
export const nestedJson = (depth: number, inside: string) =>
  `${"[".repeat(depth)}${inside}${inside && "1"}${"]".repeat(depth)}`;
