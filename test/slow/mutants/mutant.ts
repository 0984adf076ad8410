import type { Change } from "../../support/altered-copy.ts";

/** A way to break a promise, and the test that must fail with it. */
export interface Mutant {
  readonly name: string;
  /** The promise. */
  readonly breaks: string;
  /** When a change of the program moves such a text, change it here, so that the promise is still broken. */
  readonly changes: readonly Change[];
  /** All tests in the file whose titles, or those of their groups, contain `title`. */
  readonly noticedBy: readonly [file: string, title: string];
}
