import { deepEqual } from "node:assert/strict";
import { parseArgs } from "node:util";

import { type CrashDatabases, databases, type Row } from "./databases.ts";
import { Ledger, ledgerSeats } from "./ledger.ts";
import { MigrationTrial } from "./migration.ts";
import { deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

const usage = `Usage: bun run crash [options]

Kills a loaded skyhook with SIGKILL, again and again: from outside at any time, and from inside in the
midst of a transaction, before its commit and after it. After each kill the database is compared with
what was acknowledged; what was not is asked again. Each round also kills a migration at any time.

Options
  --rounds N     rounds (100); a round takes about a second
  --database D   ${databases.map(({ name }) => name).join(", ")} (all)
  --help         this text`;

/** A start has migrated by then. */
const longestMigrationMs = 150;
const mostRounds = 100_000;

function readRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= 1 && rounds <= mostRounds) return rounds;
  throw new Error(`--rounds must be a whole number from 1 to ${mostRounds}`);
}

/** What a run that is broken off has to end: processes and folders. */
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

/** Kills a migration at any time. Throws unless the next start makes the whole schema. */
async function killMigration(kind: CrashDatabases, schema: readonly Row[]): Promise<void> {
  await using(MigrationTrial.open(kind), async (trial) => {
    await trial.migrateFor(Math.random() * longestMigrationMs);
    deepEqual(await trial.schemaAfterStart(), schema);
  });
}

const totals = { acknowledged: 0, unanswered: 0, carriedOut: 0, notifiedAgain: 0 };

/** Plays rounds on one database; `first` is the number of the first. */
async function play(kind: CrashDatabases, first: number, last: number, of: number): Promise<void> {
  const deaths = deathsOn(kind);
  const schema = await using(MigrationTrial.open(kind), (trial) => trial.schemaAfterStart());
  await using(CrashService.open(kind, ledgerSeats, true), async (service) => {
    const ledger = new Ledger();
    for (let number = first; number <= last; number += 1) {
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
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    void Promise.allSettled([...open].map((thing) => thing.end())).then(() => process.exit(1));
  });
}

try {
  const options = {
    rounds: { type: "string" },
    database: { type: "string" },
    help: { type: "boolean" },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help === true) {
    console.log(usage);
  } else {
    const rounds = readRounds(values.rounds ?? "100");
    const chosen = databases.filter(({ name }) => name === (values.database ?? name));
    if (chosen.length === 0) throw new Error(`There is no ${values.database}. Try --help`);
    for (const kind of chosen) {
      // Then a new database is taken, and the old one must have everything, once.
      const roundsPerDatabase = deathsOn(kind).length;
      for (let first = 1; first <= rounds; first += roundsPerDatabase) {
        await play(kind, first, Math.min(first + roundsPerDatabase - 1, rounds), rounds);
      }
    }
    console.log(
      `
No fault found on ${chosen.map(({ name }) => name).join(" and ")}. Acknowledged: ${totals.acknowledged}, each there once.
Unanswered: ${totals.unanswered}; ${totals.carriedOut} of them had been stored, and the retry found them; the others it made.
Notified more than once: ${totals.notifiedAgain}, each under one id. Migrations killed: ${rounds * chosen.length}, each whole after the next start.`,
    );
  }
} catch (error) {
  console.error(`crash: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
