import { databases } from "../harness/databases.ts";
import { endOnSignals, inWorld } from "../harness/in-world.ts";
import { chosen, database, type LongRun, minutes, rounds, seed } from "../long-run.ts";
import { powerCuts, powerCutsOf } from "../power-cut/run.ts";

import { Ledger, ledgerSeats, workersOfFleet } from "./ledger.ts";
import { endRounds, playRound, pointsOn, withOutside } from "./rounds.ts";

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
    endOnSignals();
    const of = options.number("rounds");
    const withFleet = options.has("destinations");
    const kinds = chosen(databases(), options, "database");
    const limitMs = (options.number("minutes") * 60_000) / kinds.length;
    const totals = { acknowledged: 0, unanswered: 0, carriedOut: 0, notifiedAgain: 0 };
    for (const kind of kinds) {
      const endsMs = performance.now() + limitMs;
      const deaths = withOutside(pointsOn(kind));
      const how = { seats: ledgerSeats, dies: true, waitsForLeases: !withFleet, withFleet };
      for (let number = 1; number <= of && performance.now() < endsMs;) {
        // The old database must have everything exactly once; then a new one is created.
        await inWorld(kind, how, async (world) => {
          const ledger = new Ledger(withFleet ? { workers: workersOfFleet } : {});
          for (const death of deaths) {
            if (number > of || performance.now() > endsMs) break;
            const { acknowledged, unanswered, carriedOut } = await playRound(world, ledger, death);
            totals.acknowledged += acknowledged;
            totals.unanswered += unanswered;
            totals.carriedOut += carriedOut;
            console.log(
              `${kind.name} ${number}/${of}: killed ${death.name}; acknowledged ${acknowledged}, unanswered ${unanswered}, of which stored ${carriedOut}`,
            );
            number += 1;
          }
          totals.notifiedAgain += await endRounds(world, ledger);
        });
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
