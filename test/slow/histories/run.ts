import { databases } from "../harness/databases.ts";
import { endOnSignals } from "../harness/in-world.ts";
import { chosen, database, type LongRun, rounds, seed } from "../long-run.ts";

import { runPlanted } from "./planted.ts";
import { playRound } from "./round.ts";
import { setups } from "./setups.ts";

export const histories: LongRun = {
  name: "histories",
  about: "checks what concurrent clients saw for linearizability, while instances are killed",
  description: `Concurrent clients book, cancel, read and deliver by REST and GraphQL, while instances are killed, restarted
and cut off from their server. Each flight with its bookings and idempotency keys, and each delivery,
must have one order of its operations that explains all answers (linearizability). The smallest
window without one is printed. The seed repeats the choices of the clients, but not the timing.`,
  flags: {
    rounds: rounds(20, "rounds for each setup; a round takes about five seconds"),
    database: database(["SQLite", "PostgreSQL"]),
    instances: { takes: "text", about: "1 or 2; 2 on PostgreSQL only (both)" },
    seed,
    planted: {
      takes: "nothing",
      about: "histories of copies of the program with known errors, which they must show",
    },
  },

  async run(options) {
    endOnSignals();
    if (options.has("planted")) return (await runPlanted(options.number("seed"))) === 0;
    const instances = options.text("instances");
    const kinds = chosen(databases(), options, "database");
    const wanted = setups().filter(
      (setup) =>
        kinds.some(({ name }) => name === setup.kind.name) &&
        (instances === undefined || instances === String(setup.instances)),
    );
    if (wanted.length === 0) throw new Error("There is no such setup. Try --help.");
    const first = options.number("seed");
    let found = 0;
    for (const setup of wanted) {
      for (let number = 0; number < options.number("rounds"); number += 1) {
        const seedOf = first + number;
        const round = await playRound(setup, seedOf);
        const faults = [...round.faults].map(([fault, times]) => `${times} × ${fault}`).join(", ");
        console.log(
          `${setup.name}, seed ${seedOf}: ${round.operations} operations (${round.unknown} unknown) on ${round.objects} objects; ${faults}; checked in ${Math.round(round.checkedMs)} ms`,
        );
        for (const text of round.wrong) console.log(`\n${text}\n`);
        found += round.wrong.length;
      }
    }
    console.log(found === 0 ? "All histories are linearizable." : `${found} histories are not.`);
    return found === 0;
  },
};
