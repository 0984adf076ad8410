import fc from "fast-check";

import { book, bookAgain, rivals } from "./commands/bookings.ts";
import type { ModelCommand } from "./commands/command.ts";
import { importAgain, importNew, importPlans, search } from "./commands/flights.ts";
import { cancel, quote, readBooking } from "./commands/own-bookings.ts";
import { filtered, numberedPage, olderThan, walkPages } from "./commands/pages.ts";
import { forge, guessClient, misdeliver } from "./commands/refused.ts";
import { keepToken, restart, wait, waitUntil } from "./commands/time.ts";
import { addUser, createUser } from "./commands/users.ts";
import { deliver, replay } from "./commands/webhooks.ts";
import type { DatabaseKind } from "./databases.ts";
import { emptyModel, type Model } from "./model.ts";
import { dayMs, hourMs } from "./rules.ts";
import { type Server, startServer } from "./server.ts";

/** Each command with its weight. */
const commands: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<ModelCommand>])[] = [
  [2, createUser],
  [2, importNew],
  [3, importAgain],
  [2, search],
  [8, book],
  [4, bookAgain],
  [2, rivals],
  [6, cancel],
  [3, quote],
  [3, readBooking],
  [4, walkPages],
  [1, numberedPage],
  [1, olderThan],
  [1, filtered],
  [2, wait],
  [5, waitUntil],
  [2, keepToken],
  [6, deliver],
  [2, forge],
  [1, guessClient],
  [1, misdeliver],
  [2, replay],
  [1, restart],
];

const anySequence = (most: number) =>
  fc.commands(
    // Repeat each command by its weight, since fast-check chooses evenly.
    commands.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary)),
    { maxCommands: most, size: "max", disableReplayLog: true },
  );

interface CheckOptions {
  readonly seed: number;
  readonly runs: number;
  /** Maximum number of commands in a run. */
  readonly commands: number;
  /** Time limit: after it, shrinking stops and the shortest failure so far is reported. */
  readonly limitMs?: number;
  /** Counts of each outcome; the run adds to them. */
  readonly tally: Map<string, number>;
}

/**
 * Runs random sequences of commands against the model and the service, each on a new database. Throws with
 * the seed and the shortest failing sequence that it finds.
 */
export async function checkModel(database: DatabaseKind, options: CheckOptions): Promise<void> {
  const { seed, runs, tally, limitMs = Infinity } = options;
  const endsMs = performance.now() + limitMs;
  const property = fc.asyncProperty(anySequence(options.commands), async (sequence) => {
    if (performance.now() > endsMs) return;
    const server = await startServer(database, tally);
    const model = emptyModel();
    try {
      const setup = async () => ({ model: await furnish(model, server), real: server });
      await fc.asyncModelRun(setup, sequence);
    } finally {
      await server.stop();
    }
  });
  const checked = await fc.check(property, { seed, numRuns: runs });
  const { counterexample, errorInstance } = checked;
  if (counterexample === null) return;
  const steps = fc.stringify(counterexample[0]).replaceAll("),", "),\n  ");
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(
    `The service and its model differ after:\n  ${steps}\n${why}\n` +
      `Again: bun run model --database ${database.name} --seed ${seed} --commands ${options.commands}`,
  );
}

/** Three users and two flights, so that the first commands have data. */
async function furnish(model: Model, server: Server): Promise<Model> {
  for (const name of ["Grace", "Edsger", "Barbara"]) {
    const token = await server.mint("admin", "admin", 60);
    const input = { name, email: `${name}@example.com` };
    await addUser(model, server, { userId: "admin", token, refusal: null }, "rest", input, null);
  }
  const departureMs = server.clock.now() + 8 * dayMs;
  const plan = {
    flightNumber: "SK1",
    airline: "Skyhook Air",
    origin: "JFK",
    destination: "LHR",
    departureMs,
    arrivalMs: departureMs + 7 * hourMs,
    cabinClass: "economy",
    seats: 9,
    priceMinor: 49_955,
    currency: "USD",
  } as const;
  const soon = { ...plan, flightNumber: "SK2", departureMs: departureMs - 5 * dayMs, seats: 5 };
  await importPlans(model, server, [plan, { ...soon, arrivalMs: soon.departureMs + 7 * hourMs }]);
  return model;
}
