import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { root } from "../../support/altered-copy.ts";

import { fewerMutants } from "./fewer-mutants.ts";
import { mutants } from "./mutants.ts";

const linesPerMutant = 60;
/** A smaller folder needs none. */
const smallLines = 200;

/** The lines of each folder of the source, without those of the folders in it. */
function linesByFolder(): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const file of new Bun.Glob("src/**/*.{ts,tsx}").scanSync(root)) {
    if (file.endsWith(".d.ts")) continue;
    const own = readFileSync(join(root, file), "utf8").split("\n").length - 1;
    lines.set(dirname(file), (lines.get(dirname(file)) ?? 0) + own);
  }
  return lines;
}

const mutantsOf = (folder: string): number =>
  mutants.filter(({ changes }) => changes.some(([file]) => dirname(file) === folder)).length;

test("each folder over 200 lines has a mutant per 60 lines, or is listed with its number", () => {
  const fewer = [...linesByFolder()]
    .filter(([, lines]) => lines > smallLines)
    .map(([folder, lines]) => ({ folder, lines, count: mutantsOf(folder) }))
    .filter(({ lines, count }) => count < Math.floor(lines / linesPerMutant))
    .map(({ folder, count }) => [folder, count] as const);
  const listed = fewerMutants.flatMap(({ folders }) => Object.entries(folders));
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(fewer));
});
