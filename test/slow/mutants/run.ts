import { changedSince } from "../../ci/sample.ts";
import { type LongRun, type Options, rounds, sampleOf, seed } from "../long-run.ts";

import { forEach, judge, unchangedResults, type Verdict } from "./judge.ts";
import type { Mutant } from "./mutants.ts";
import { mutants } from "./mutants.ts";

/** So often a mutant has to survive, or its test to fail without it, before that is believed. */
const maxTries = 3;

export const mutantsRun: LongRun = {
  name: "mutants",
  about: "breaks the promises of the program, one at a time, and expects a test to notice",
  description: `Copies the program, breaks one promise in the copy, and runs the test that must notice it there.
Each test must pass without the change. Prints a line for each mutant, and ends with 1 if one survives
three times in a row.`,
  flags: {
    only: { takes: "text", about: "mutants with this in their names" },
    since: { takes: "text", about: "mutants of files that changed since this commit" },
    sample: rounds(1_000, "so many others too, with --since"),
    seed,
    list: { takes: "nothing", about: "prints the mutants and runs nothing" },
    reasons: { takes: "nothing", about: "prints how each test failed" },
  },

  async run(options) {
    const wanted = wantedBy(options);
    const row = rowsOf(wanted);
    if (options.has("list")) {
      for (const mutant of wanted) console.log(row(mutant));
      return true;
    }
    const unchanged = await unchangedResults(wanted);
    const tally = new Map<Verdict["is"], number>();
    await forEach(wanted, async (mutant) => {
      const startedMs = performance.now();
      let verdict = await judge(mutant, unchanged);
      // A promise about rivals is broken only when they meet, and a busy machine may fail a test without any change.
      for (let tries = 1; tries < maxTries && isFault(verdict); tries += 1) {
        verdict = await judge(mutant, await unchangedResults([mutant]));
      }
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      tally.set(verdict.is, (tally.get(verdict.is) ?? 0) + 1);
      console.log(`${verdict.is.toUpperCase().padEnd(8)} ${seconds.padStart(5)} s  ${row(mutant)}`);
      if (verdict.is === "broken" || (options.has("reasons") && "reason" in verdict)) {
        console.log(verdict.reason.replaceAll(/^/gm, "    "));
      }
    });
    const counts = [...tally].map(([is, count]) => `${count} ${is}`).join(", ");
    console.log(`${wanted.length} mutants: ${counts}`);
    return !tally.has("survived") && !tally.has("broken");
  },
};

function wantedBy(options: Options): readonly Mutant[] {
  const name = options.text("only") ?? "";
  const named = mutants.filter((mutant) => mutant.name.includes(name));
  if (named.length === 0) throw new Error(`There is no mutant "${name}". Try --list.`);
  const since = options.text("since");
  if (since === undefined) return named;
  const changed = changedSince(since);
  const isChanged = ({ changes, noticedBy: [test] }: Mutant) =>
    changed.has(test) || changes.some(([file]) => changed.has(file));
  console.log(`Files changed since ${since}: ${changed.size}. Seed: ${options.number("seed")}`);
  const others = options.has("sample") ? named.filter((mutant) => !isChanged(mutant)) : [];
  return [...named.filter(isChanged), ...sampleOf(others, options)];
}

const isFault = ({ is }: Verdict): boolean => is === "survived" || is === "broken";

/** Returns the function that prints a mutant, its promise and its test in columns. */
function rowsOf(wanted: readonly Mutant[]): (mutant: Mutant) => string {
  const names = Math.max(...wanted.map(({ name }) => name.length));
  const promises = Math.max(...wanted.map(({ breaks }) => breaks.length));
  return ({ name, breaks, noticedBy: [file, title] }) =>
    `${name.padEnd(names)}  ${breaks.padEnd(promises)}  ${file}: ${title}`;
}
