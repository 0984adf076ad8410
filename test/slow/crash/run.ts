import { deepEqual } from "node:assert/strict";

import { chosen, database, type LongRun, minutes, rounds, seed } from "../long-run.ts";
import { powerCuts, powerCutsOf } from "../power-cut/run.ts";

import { type CrashDatabases, databases, type Row } from "./databases.ts";
import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { MigrationTrial } from "./migration.ts";
import { deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

/** By then, a start has finished its migrations. */
const longestMigrationMs = 150;

/** Processes and folders to clean up when a run is interrupted. */
const open = new Set<{ end(): Promise<void> }>();

async function using<Thing extends { end(): Promise<void> }, Result>(
  opening: Promise<Thing>,
  use: (thing: Thing) => Promise<Result>,
): Promise<Result> {
  const thing = await opening;
  open.add(thing);
  try {
    return await use(thing);
  } finally {
    open.delete(thing);
    await thing.end();
  }
}

/** Kills a migration at a random time. Throws unless the next start completes the schema. */
async function killMigration(kind: CrashDatabases, schema: readonly Row[]): Promise<void> {
  await using(MigrationTrial.open(kind), async (trial) => {
    await trial.migrateFor(Math.random() * longestMigrationMs);
    deepEqual(await trial.schemaAfterStart(), schema);
  });
}

const totals = { rounds: 0, acknowledged: 0, unanswered: 0, carriedOut: 0, notifiedAgain: 0 };

interface Series {
  readonly first: number;
  readonly last: number;
  readonly of: number;
  /** In terms of `performance.now()`; no round starts later. */
  readonly endsMs: number;
  /** Whether there are fifty destinations besides the operator gateway. */
  readonly withFleet: boolean;
}

/** Runs rounds on one database. Returns their number. */
async function play(
  kind: CrashDatabases,
  { first, last, of, endsMs, withFleet }: Series,
): Promise<number> {
  const deaths = deathsOn(kind);
  const schema = await using(MigrationTrial.open(kind), (trial) => trial.schemaAfterStart());
  const options = { waitsForLeases: !withFleet, withFleet };
  return using(CrashService.open(kind, ledgerSeats, options), async (service) => {
    const ledger = new Ledger(withFleet ? { workers: workersOfFleet } : {});
    let number = first;
    for (; number <= last && performance.now() < endsMs; number += 1) {
      const death = deaths[(number - 1) % deaths.length] ?? outside;
      await killMigration(kind, schema);
      const round = await playRound(service, ledger, death);
      const { acknowledged, unanswered, carriedOut } = round;
      totals.acknowledged += acknowledged;
      totals.unanswered += unanswered;
      totals.carriedOut += carriedOut;
      console.log(
        `${kind.name} ${number}/${of}: killed ${death.name}; acknowledged ${acknowledged}, unanswered ${unanswered}, of which stored ${carriedOut}`,
      );
    }
    totals.notifiedAgain += await endRounds(service, ledger);
    return number - first;
  });
}

export const crash: LongRun = {
  name: "crash",
  about:
    "kills the server with SIGKILL under load and compares the database with what was acknowledged",
  description: `Kills a loaded skyhook with SIGKILL, again and again: from outside at any time, and from inside in the
midst of a transaction, before its commit and after it. After each kill the database is compared with
what was acknowledged; what was not is asked again. Each round also kills a migration at any time.

With --destinations, fifty of them are healthy, slow, hanging, dripping, failing, refusing, limited, ordered,
paused or filtered until the end; then each must have accepted what it matches, in order, and nothing else.

With --power-cut, records what skyhook writes and syncs, and opens the disks that a power cut could
leave at random points: what was not synced is dropped, kept, torn or reordered.`,
  flags: {
    rounds: rounds(100, "rounds; a round takes about a second"),
    minutes: minutes(1_440),
    database: database(["SQLite", "PostgreSQL"]),
    destinations: { takes: "nothing", about: "notifies fifty destinations of mixed health too" },
    "power-cut": { takes: "nothing", about: "cuts the power instead of killing" },
    images: rounds(1_000, "power cuts; about 70 a second"),
    seed: { ...seed, about: "repeats power cuts, with --recording" },
    recording: { takes: "text", about: "a recording that a power cut with a loss has kept" },
  },

  async run(options) {
    if (options.has("power-cut")) {
      const [images, seed] = [options.number("images"), options.number("seed")];
      const recording = options.text("recording");
      if (recording === undefined) return powerCuts(images, seed);
      return powerCutsOf(recording, images, seed);
    }
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        void Promise.allSettled([...open].map((thing) => thing.end())).then(() => process.exit(1));
      });
    }
    const of = options.number("rounds");
    const kinds = chosen(databases(), options, "database");
    const limitMs = (options.number("minutes") * 60_000) / kinds.length;
    for (const kind of kinds) {
      const endsMs = performance.now() + limitMs;
      // The old database must have everything exactly once; then a new one is created.
      const roundsPerDatabase = deathsOn(kind).length;
      for (let first = 1; first <= of && performance.now() < endsMs; first += roundsPerDatabase) {
        const last = Math.min(first + roundsPerDatabase - 1, of);
        const withFleet = options.has("destinations");
        totals.rounds += await play(kind, { first, last, of, endsMs, withFleet });
      }
    }
    console.log(
      `
No fault found on ${kinds.map(({ name }) => name).join(" and ")}. Acknowledged: ${totals.acknowledged}, each stored once.
Unanswered: ${totals.unanswered}; ${totals.carriedOut} of them had been stored, and the retry found them; the others it made.
Notified more than once: ${totals.notifiedAgain}, each under one id. Migrations killed: ${totals.rounds}, each whole after the next start.`,
    );
    return true;
  },
};
