import { databases } from "../harness/databases.ts";
import { chosen, database, type LongRun, minutes, rounds, seed } from "../long-run.ts";

import { checkBookings, checkModel } from "./check.ts";

/** Sequences between two progress lines. */
const batchRuns = 20;

export const model: LongRun = {
  name: "model",
  about: "compares the service with a model of it after each of many random commands",
  description: `Holds the service against a model of it: random sequences of commands by REST and GraphQL, with
restarts and a clock that jumps, and all that can be seen compared after each command. As many sequences hold,
pay, refund, change and cancel bookings on one instance or two, and compare what the database has.`,
  flags: {
    rounds: rounds(200, "sequences of commands"),
    minutes: minutes(1_440),
    commands: {
      takes: "number",
      about: "the most commands of a sequence",
      usual: 60,
      least: 1,
      most: 1_000,
    },
    seed,
    database: database(["SQLite", "PostgreSQL"]),
  },

  async run(options) {
    const count = options.number("rounds");
    const commands = options.number("commands");
    const first = options.number("seed");
    const kinds = chosen(databases(), options, "database");
    const limitMs = (options.number("minutes") * 60_000) / kinds.length;
    for (const kind of kinds) {
      console.log(`${kind.name}: ${count} sequences of up to ${commands} commands, seed ${first}`);
      const tally = new Map<string, number>();
      const startedMs = performance.now();
      for (let done = 0; done < count && performance.now() < startedMs + limitMs;) {
        const batch = Math.min(batchRuns, count - done);
        // One seed for each batch, so that a failing batch can be repeated alone.
        const sequences = { seed: first + done, runs: batch, commands, tally };
        await checkModel(kind, sequences);
        await checkBookings(kind, sequences);
        done += batch;
        const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
        console.log(
          `${String(done).padStart(7)} sequences, ${tally.get("command") ?? 0} commands, ${seconds} s`,
        );
      }
      console.log(`\nNo difference. What happened, and how often:\n${table(tally)}`);
    }
    return true;
  },
};

function table(tally: ReadonlyMap<string, number>): string {
  const rows = [...tally].toSorted(([one], [other]) => one.localeCompare(other));
  return rows.map(([label, times]) => `${String(times).padStart(8)}  ${label}`).join("\n");
}
