import fc from "fast-check";

import type { DatabaseKind } from "../harness/databases.ts";

import type { AppWorld } from "./app-world.ts";

/** Repeats each command by its weight, since fast-check chooses evenly. */
export const weighted = <Command>(
  commands: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Command>])[],
): fc.Arbitrary<Command>[] =>
  commands.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary));

export interface Sequences {
  readonly seed: number;
  readonly runs: number;
  /** The most commands of a sequence. */
  readonly commands: number;
  /** After it, nothing is started, and the shortest failure so far is reported. */
  readonly limitMs?: number;
  /** Counts of each outcome; the run adds to them. */
  readonly tally: Map<string, number>;
}

/**
 * Runs random sequences of commands, each in a new world. Throws with the seed and the shortest failing sequence that it
 * finds. `furnish` returns the model at the start.
 */
export async function checkSequences<Model extends object, World extends AppWorld>(
  kind: DatabaseKind,
  commands: fc.Arbitrary<fc.AsyncCommand<Model, World>>[],
  open: (tally: Map<string, number>) => Promise<World>,
  furnish: (world: World) => Promise<Model>,
  { seed, runs, commands: maxCommands, limitMs = Infinity, tally }: Sequences,
): Promise<void> {
  const endsMs = performance.now() + limitMs;
  const anySequence = fc.commands(commands, { maxCommands, size: "max", disableReplayLog: true });
  const property = fc.asyncProperty(anySequence, async (sequence) => {
    if (performance.now() > endsMs) return;
    const world = await open(tally);
    try {
      world.count("sequence");
      const model = await furnish(world);
      await fc.asyncModelRun(() => ({ model, real: world }), sequence);
    } finally {
      await world.close();
    }
  });
  const { counterexample, errorInstance } = await fc.check(property, { seed, numRuns: runs });
  if (counterexample === null) return;
  const steps = fc.stringify(counterexample[0]).replaceAll("),", "),\n  ");
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(
    `The service and its model differ after:\n  ${steps}\n${why}\n` +
      `Again: bun run model --database ${kind.name} --seed ${seed} --commands ${maxCommands}`,
  );
}
