import fc from "fast-check";

interface Options {
  readonly seed: number;
  readonly runs: number;
  /** When to stop, even if not all runs were made. */
  readonly limitMs: number;
}

/** Runs random sequences of steps, each in a new world. Throws with the shortest failing one. */
export async function checkLives<World extends { close(): Promise<void> }>(
  lives: fc.Arbitrary<Iterable<fc.AsyncCommand<object, World>>>,
  open: () => Promise<World>,
  { seed, runs, limitMs }: Options,
): Promise<void> {
  const property = fc.asyncProperty(lives, async (sequence) => {
    const world = await open();
    try {
      await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
    } finally {
      await world.close();
    }
  });
  await fc.assert(property, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: limitMs,
    markInterruptAsFailure: false,
  });
}
