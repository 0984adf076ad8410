/** One line of `skyhook doctor`. `bad` makes the command fail; `odd` is a warning. */
export interface Finding {
  readonly level: "good" | "odd" | "bad";
  /** The subject, such as `database`. */
  readonly about: string;
  /** The state and, if it is not good, what to do. */
  readonly detail: string;
}

const finding =
  (level: Finding["level"]) =>
  (about: string, detail: string): Finding => ({ level, about, detail });

export const good = finding("good");
export const odd = finding("odd");
export const bad = finding("bad");
