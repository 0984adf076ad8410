import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Change } from "../../support/altered-copy.ts";

/** A way to break a promise, and the test that must fail with it. */
export interface Mutant {
  readonly name: string;
  /** The promise. */
  readonly breaks: string;
  readonly changes: readonly Change[];
  /** All tests in the file whose titles, or those of their groups, contain `title`. */
  readonly noticedBy: readonly [file: string, title: string];
}

/**
 * The mutants in the text of a list. Each has three lines (`mutant`, `breaks: ` and `noticed by: `) and then its
 * changes as in a diff, but without line numbers: the lines before a change are a text that the file has once.
 */
function mutantsIn(text: string): readonly Mutant[] {
  return text
    .replaceAll(/^#.*\n/gm, "")
    .split(/^mutant /m)
    .slice(1)
    .map(mutantOf);
}

const entry =
  /^(?<name>\S+)\nbreaks: (?<breaks>[^\n]+)\nnoticed by: (?<file>\S+): (?<title>[^\n]+)\n(?<changes>--- .+)$/s;

function mutantOf(text: string): Mutant {
  const parts = entry.exec(text.trimEnd())?.groups;
  if (parts === undefined) throw new Error(`This is no mutant:\n${text}`);
  const { name = "", breaks = "", file = "", title = "", changes = "" } = parts;
  return { name, breaks, changes: changesIn(changes), noticedBy: [file, title] };
}

/** `--- file` begins the changes of a file, `@@` another one of the same file. */
function changesIn(text: string): readonly Change[] {
  return text
    .split(/^--- /m)
    .slice(1)
    .flatMap((ofFile) => {
      const [file = "", ...lines] = ofFile.trimEnd().split("\n");
      return lines
        .join("\n")
        .split("\n@@\n")
        .map((change): Change => [file, side(change, "-"), side(change, "+")]);
    });
}

/** The lines that only one side of a change has, and those of both. */
const side = (change: string, mark: "-" | "+"): string =>
  change
    .split("\n")
    .filter((line) => line.startsWith(mark) || line.startsWith(" "))
    .map((line) => line.slice(1))
    .join("\n");

const folder = join(import.meta.dir, "list");

/** Each file has those of one kind of promise. */
export const mutants: readonly Mutant[] = readdirSync(folder)
  .toSorted()
  .flatMap((file) => mutantsIn(readFileSync(join(folder, file), "utf8")));
