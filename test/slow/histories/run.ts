import { chosen, database, type LongRun, rounds, seed } from "../long-run.ts";

import { nameOf, type Setup, setups } from "./cluster.ts";
import { runPlanted } from "./planted.ts";
import { playRound, type Round } from "./round.ts";

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
    if (options.has("planted")) return (await runPlanted(options.number("seed"))) === 0;
    const instances = options.text("instances");
    const named = setups().map((setup) => ({ ...setup, name: setup.database }));
    const wanted = chosen(named, options, "database").filter(
      (setup) => instances === undefined || instances === String(setup.instances),
    );
    if (wanted.length === 0) throw new Error("There is no such setup. Try --help.");
    const count = options.number("rounds");
    const first = options.number("seed");
    let found = 0;
    for (const setup of wanted) {
      for (let number = 0; number < count; number += 1) {
        const round = await playRound(setup, first + number);
        console.log(lineOf(setup, first + number, round));
        for (const text of round.wrong) console.log(`\n${text}\n`);
        found += round.wrong.length;
      }
    }
    console.log(found === 0 ? "All histories are linearizable." : `${found} histories are not.`);
    return found === 0;
  },
};

function lineOf(setup: Setup, seedOf: number, round: Round): string {
  const { operations, unknown, objects, checkedMs } = round;
  const faults = [...round.faults].map(([fault, times]) => `${times} × ${fault}`).join(", ");
  return `${nameOf(setup)}, seed ${seedOf}: ${operations} operations (${unknown} unknown) on ${objects} objects; ${faults}; checked in ${Math.round(checkedMs)} ms`;
}
