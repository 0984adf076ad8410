import { chosen, database, type LongRun, minutes, rounds, seed } from "../long-run.ts";
import { powerCuts, powerCutsOf } from "../power-cut/run.ts";

import { type CrashDatabases, databases } from "./databases.ts";
import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { deathsOn, endRounds, outside, playRound } from "./rounds.ts";
import { CrashService } from "./service.ts";

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

const totals = { acknowledged: 0, unanswered: 0, carriedOut: 0, notifiedAgain: 0 };

interface Series {
  readonly first: number;
  readonly last: number;
  readonly of: number;
  /** In terms of `performance.now()`; no round starts later. */
  readonly endsMs: number;
  /** Whether there are fifty destinations besides the operator gateway. */
  readonly withFleet: boolean;
}

/** Runs rounds on one database. */
async function play(
  kind: CrashDatabases,
  { first, last, of, endsMs, withFleet }: Series,
): Promise<void> {
  const deaths = deathsOn(kind);
  const options = { waitsForLeases: !withFleet, withFleet };
  return using(CrashService.open(kind, ledgerSeats, options), async (service) => {
    const ledger = new Ledger(withFleet ? { workers: workersOfFleet } : {});
    for (let number = first; number <= last && performance.now() < endsMs; number += 1) {
      const death = deaths[(number - 1) % deaths.length] ?? outside;
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

export const crash: LongRun = {
  name: "crash",
  about:
    "kills the server with SIGKILL under load and compares the database with what was acknowledged",
  description: `Kills a loaded skyhook with SIGKILL, again and again: from outside at any time, and from inside in the
midst of a transaction, before its commit and after it. After each kill the database is compared with
what was acknowledged; what was not is asked again.

With --destinations, fifty of them are healthy, slow, hanging, dripping, failing, refusing, limited, ordered,
paused or filtered until the end, and some are paused, resumed, rotated and retried before each kill. Then each must
have accepted what it matches, in order, and nothing else.

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
        await play(kind, { first, last, of, endsMs, withFleet });
      }
    }
    console.log(
      `
No fault found on ${kinds.map(({ name }) => name).join(" and ")}. Acknowledged: ${totals.acknowledged}, each stored once.
Unanswered: ${totals.unanswered}; ${totals.carriedOut} of them had been stored, and the retry found them; the others it made.
Notified more than once: ${totals.notifiedAgain}, each under one id.`,
    );
    return true;
  },
};
