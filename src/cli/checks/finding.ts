/** One line of `skyhook doctor`. `bad` makes it fail; `odd` is worth a look. */
export interface Finding {
  readonly level: "good" | "odd" | "bad";
  /** What was looked at. */
  readonly about: string;
  /** How it is; where it is not good, what to do. */
  readonly detail: string;
}

const finding =
  (level: Finding["level"]) =>
  (about: string, detail: string): Finding => ({ level, about, detail });

export const good = finding("good");
export const odd = finding("odd");
export const bad = finding("bad");
