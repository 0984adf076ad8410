import { alteredCopy, root } from "../../support/altered-copy.ts";

import type { Mutant } from "./mutants.ts";
import { type Result, results } from "./results.ts";

/** What became of a mutant. */
export type Verdict =
  /** Its test failed, for this reason. */
  | { readonly is: "noticed"; readonly reason: string }
  | { readonly is: "survived" }
  /** Its test is skipped on this machine. */
  | { readonly is: "skipped" }
  /** It could not be tried. */
  | { readonly is: "broken"; readonly reason: string };

type Judged = Pick<Mutant, "changes" | "noticedBy">;

/** The results of tests without any change, by file and title; an error for a file that did not run. */
type Unchanged = ReadonlyMap<string, ReadonlyMap<string, Result> | Error>;

/** As many as CI has cores. */
const atOnce = 2;

/** Runs the tests of these mutants in the unchanged tree, each file once. */
export async function unchangedResults(mutants: readonly Judged[]): Promise<Unchanged> {
  const unchanged = new Map<string, ReadonlyMap<string, Result> | Error>();
  const byFile = Map.groupBy(mutants, ({ noticedBy: [file] }) => file);
  await forEach([...byFile], async ([file, ofFile]) => {
    const titles = new Set(ofFile.map(({ noticedBy: [, title] }) => title));
    unchanged.set(file, await results(root, file, [...titles]).catch(asError));
  });
  return unchanged;
}

/** A test that waits for what the mutant prevents waits in vain: 10 s are as good as a minute. */
const shortWaits = { TEST_WAIT_MS: "10000" };

/** Runs the test of a mutant in a copy of the tree with its changes. */
export async function judge(
  { changes, noticedBy: [file, title] }: Judged,
  unchanged: Unchanged,
): Promise<Verdict> {
  const ofFile = unchanged.get(file);
  if (ofFile instanceof Error) return { is: "broken", reason: ofFile.message };
  const before = ofFile?.get(title) ?? null;
  if (before === null) return { is: "broken", reason: `No test has the title: ${title}` };
  if (before.is === "skipped") return { is: "skipped" };
  if (before.is === "failed") {
    return { is: "broken", reason: `The test fails without the change too:\n${before.reason}` };
  }
  try {
    using copy = alteredCopy(changes);
    const after = (await results(copy.folder, file, [title], shortWaits)).get(title) ?? null;
    if (after?.is === "failed") return { is: "noticed", reason: after.reason };
    if (after?.is === "passed") return { is: "survived" };
    return { is: "broken", reason: "The test did not run with the change" };
  } catch (error) {
    return { is: "broken", reason: asError(error).message };
  }
}

/** Calls `act` for each item, for `atOnce` of them at the same time. */
export async function forEach<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
