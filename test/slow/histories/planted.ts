import { join } from "node:path";

import { alteredCopy, type Change } from "../../support/altered-copy.ts";

import { playRound, type RoundSize } from "./round.ts";
import { setups } from "./setups.ts";

/** An error that is planted in a copy of the program, and must make a history wrong. */
export interface Planted {
  readonly error: string;
  /** The name of the setup. */
  readonly setup: string;
  readonly changes: readonly Change[];
}

const onSqlite = "SQLite";
const onTwoInstances = "PostgreSQL, 2 instances";

const flights = "src/booking/flights/flights.ts";
const flightsSql = "src/booking/flights/flights.sql.ts";
const seats = "src/booking/flights/free-seats.ts";
const sale = "src/booking/bookings/sale.ts";
const readFlight = "const [flight] = await storage.all(flightById, { id });";

/** The check would fail such a statement, whatever is planted. */
const withoutCheck: Change = [
  "src/schema/sqlite.sql",
  "check (seats_available between -oversold and seats)",
  "check (seats >= 0)",
];

export const planted: readonly Planted[] = [
  {
    error: "bookings at the same time take the same seats",
    setup: onSqlite,
    changes: [
      [flightsSql, "gte(flights.seatsAvailable, p.seats),", ""],
      [
        flightsSql,
        "sql`${flights.seatsAvailable} - ${p.seats}`",
        "sql`max(${flights.seatsAvailable} - ${p.seats}, 0)`",
      ],
      withoutCheck,
    ],
  },
  {
    error: "the seats of a flight are read from a cache for 50 ms",
    setup: onSqlite,
    changes: [
      [
        flights,
        "export function flights(",
        `const cache = new Map<Flight["id"], { readonly flight: Flight; readonly atMs: number }>();
export function flights(`,
      ],
      [
        flights,
        readFlight,
        `const known = cache.get(id);
      if (known !== undefined && clock.now() - known.atMs < 50) return flightView(known.flight);
      ${readFlight}
      if (flight !== undefined) cache.set(id, { flight, atMs: clock.now() });`,
      ],
    ],
  },
  {
    error: "the seats of a flight are read from a cache that sales of other instances do not clear",
    setup: onTwoInstances,
    changes: [
      [
        seats,
        "export function freeSeats(",
        `export const cache = new Map<Flight["id"], Flight>();
export function freeSeats(`,
      ],
      [seats, "changed(flightId) {\n", "changed(flightId) {\n      cache.delete(flightId);\n"],
      [
        flights,
        `import { flightView } from "./flight-view.ts";`,
        `import { cache } from "./free-seats.ts";\nimport { flightView } from "./flight-view.ts";`,
      ],
      [
        flights,
        readFlight,
        `const known = cache.get(id);
      if (known !== undefined) return flightView(known);
      ${readFlight}
      if (flight !== undefined) cache.set(id, flight);`,
      ],
    ],
  },
  {
    error: "an idempotency key is stored in a transaction after that of its booking",
    setup: onSqlite,
    changes: [
      [
        sale,
        `        ...reserveKey(keyed, booking.id),
        notErased(ctx),
      );`,
        `        notErased(ctx),
      );
      await storage.atomically(...reserveKey(keyed, booking.id));`,
      ],
    ],
  },
  {
    error: "a delivery is accepted again after a restart",
    setup: onSqlite,
    changes: [
      [
        "src/inbound/receive/event-identity.ts",
        "null : `${id}:${deliveryId}`",
        "null : `${id}:${deliveryId}:${process.pid}`",
      ],
    ],
  },
  {
    error: "concurrent cancellations release the seats twice",
    setup: onSqlite,
    changes: [
      [
        "src/booking/bookings/cancellation.ts",
        `      changedMeanwhile,\n    ),\n    // The refund depends`,
        `    ),\n    // The refund depends`,
      ],
      withoutCheck,
    ],
  },
  {
    error: "a booking returns the seats that were left before it, less its own",
    setup: onSqlite,
    changes: [
      [sale, "...taken.rows[0]", "seatsAvailable: flight.seatsAvailable - taken.changes * seats"],
    ],
  },
  {
    error: "a booking fails with a number of seats that would have been enough",
    setup: onSqlite,
    changes: [[sale, "if (seatsLeft(flight) < seats) throw", "if (seatsLeft(flight) < 10) throw"]],
  },
  {
    error: "the entity tag of a flight does not change with its seats",
    setup: onSqlite,
    changes: [
      ["src/web/etag.ts", "Bun.hash(body)", `Bun.hash(body.replace(/"seatsAvailable":\\d+/, ""))`],
    ],
  },
];

/** The rounds that an error has to be found in. They are short, because most are found in the first. */
const maxRounds = 8;
const size: RoundSize = { operations: 500, faults: 1 };

/** Records histories of programs with each error, until one is wrong. Returns the number of errors not found. */
export async function runPlanted(seed: number): Promise<number> {
  let missed = 0;
  for (const { error, setup: wanted, changes } of planted) {
    const setup = setups().find(({ name }) => name === wanted);
    if (setup === undefined) continue;
    using copy = alteredCopy(changes);
    const main = join(copy.folder, "src/main.ts");
    let found: string | undefined;
    for (let round = 0; round < maxRounds && found === undefined; round += 1) {
      const { wrong } = await playRound(setup, seed + round, size, main);
      if (wrong[0] !== undefined) found = `Found with seed ${seed + round}. ${wrong[0]}`;
    }
    if (found === undefined) missed += 1;
    console.log(`Planted: ${error}\n${found ?? "NOT FOUND"}\n`);
  }
  console.log(missed === 0 ? "All planted errors found" : `${missed} planted errors NOT FOUND`);
  return missed;
}
