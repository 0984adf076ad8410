import type { DatabaseKind } from "../harness/databases.ts";

import { AppWorld, openWorld } from "./app-world.ts";
import { book, bookAgain, rivals } from "./commands/bookings.ts";
import type { ModelCommand } from "./commands/command.ts";
import { importAgain, importNew, importPlans, search } from "./commands/flights.ts";
import { cancel, quote, readBooking } from "./commands/own-bookings.ts";
import { walkPages } from "./commands/pages.ts";
import { forge, guessClient, misdeliver } from "./commands/refused.ts";
import { keepToken, restart, wait, waitUntil } from "./commands/time.ts";
import { addUser, createUser } from "./commands/users.ts";
import { deliver, replay } from "./commands/webhooks.ts";
import { steps } from "./lives/steps.ts";
import { BookingWorld } from "./lives/world.ts";
import { emptyModel, type Model } from "./model.ts";
import { dayMs, hourMs } from "./rules.ts";
import { checkSequences, type Sequences, weighted } from "./sequences.ts";
import type { Server } from "./server.ts";

/** Each command with its weight. */
const commands = weighted<ModelCommand>([
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
  [1, guessClient],
  [1, misdeliver],
  [2, replay],
  [1, restart],
]);

/** Compares the service with its model after each of many random commands. */
export function checkModel(kind: DatabaseKind, sequences: Sequences): Promise<void> {
  const open = (tally: Map<string, number>) => openWorld(AppWorld, kind, 1, tally);
  return checkSequences(kind, commands, open, furnish, sequences);
}

/** Compares what the database has of bookings with what it should have, after each of many random steps. */
export function checkBookings(kind: DatabaseKind, sequences: Sequences): Promise<void> {
  const instances = kind.isServer ? 2 : 1;
  const open = (tally: Map<string, number>) => openWorld(BookingWorld, kind, instances, tally);
  return checkSequences(kind, steps, open, (world) => world.furnish(), sequences);
}

/** Three users and two flights, so that the first commands have data. */
async function furnish(server: Server): Promise<Model> {
  const model = emptyModel();
  for (const name of ["Grace", "Edsger", "Barbara"]) {
    const token = await server.mint("admin", "admin", 60);
    const input = { name, email: `${name}@example.com` };
    await addUser(model, server, { userId: "admin", token, refusal: null }, "REST", input, null);
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
