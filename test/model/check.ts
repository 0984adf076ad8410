import fc from "fast-check";

import { bookAgain, book, rivals } from "./commands/bookings.ts";
import type { ModelCommand } from "./commands/command.ts";
import { importAgain, importNew, importPlans, search } from "./commands/flights.ts";
import { cancel, quote, readBooking } from "./commands/own-bookings.ts";
import { walkPages } from "./commands/pages.ts";
import { keepToken, restart, wait, waitUntil } from "./commands/time.ts";
import { addUser, createUser } from "./commands/users.ts";
import { deliver, forge, misdeliver, replay } from "./commands/webhooks.ts";
import type { DatabaseKind } from "./databases.ts";
import { emptyModel, type Model } from "./model.ts";
import { dayMs, hourMs } from "./rules.ts";
import { type Server, startServer } from "./server.ts";

/** Each command, and how often it is chosen beside the others. */
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
  [2, wait],
  [5, waitUntil],
  [2, keepToken],
  [6, deliver],
  [2, forge],
  [1, misdeliver],
  [2, replay],
  [1, restart],
];

const anySequence = (most: number) =>
  fc.commands(
    // By weight: fast-check's own choice among the commands is even.
    commands.flatMap(([weight, arbitrary]) => Array.from({ length: weight }, () => arbitrary)),
    { maxCommands: most, size: "max" },
  );

export interface CheckOptions {
  readonly seed: number;
  readonly runs: number;
  /** The most commands of one run. */
  readonly commands: number;
  /** Goes straight to a failure that was told before. */
  readonly path?: string;
  /** How often each thing happened; added to. */
  readonly tally: Map<string, number>;
}

/**
 * Runs random sequences of commands against the model and the service on a database of their own.
 * Throws with the seed and the shortest sequence that it finds to fail.
 */
export async function checkModel(database: DatabaseKind, options: CheckOptions): Promise<void> {
  const { seed, runs, tally, path } = options;
  const property = fc.asyncProperty(anySequence(options.commands), async (sequence) => {
    const server = await startServer(database, tally);
    try {
      await fc.asyncModelRun(
        async () => ({ model: await furnish(emptyModel(), server), real: server }),
        sequence,
      );
    } finally {
      await server.stop();
    }
  });
  await fc.assert(property, { seed, numRuns: runs, ...(path !== undefined && { path }) });
}

/** Three users and two flights, so that there is something to do from the start. */
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
