import { parseArgs } from "node:util";

import { checkModel } from "./check.ts";
import { databases } from "./databases.ts";

const usage = `Usage: bun run model [options]

Holds the service against a model of it: random sequences of commands by REST and GraphQL, with
restarts and a clock that jumps, and all that can be seen compared after each command.

Options
  --runs N        sequences (200)
  --commands N    the most commands of a sequence (60)
  --seed S        to repeat a run; random if left out, and printed
  --database D    ${databases.map(({ name }) => name).join(", ")} (all)
  --help          this text`;

/** Sequences between two lines of progress. */
const batchRuns = 20;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    commands: { type: "string", default: "60" },
    seed: { type: "string" },
    database: { type: "string" },
    help: { type: "boolean" },
  },
});

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`--${name} must be a whole number from ${least} to ${most}`);
}

async function run(): Promise<void> {
  const runs = wholeNumber("runs", values.runs, 1, 1_000_000);
  const commands = wholeNumber("commands", values.commands, 1, 1_000);
  const anySeed = String(Math.floor(Math.random() * 2 ** 31));
  const seed = wholeNumber("seed", values.seed ?? anySeed, -(2 ** 31), 2 ** 31 + runs);
  const chosen = databases.filter(({ name }) => name === (values.database ?? name));
  if (chosen.length === 0) throw new Error(`There is no database "${values.database}". Try --help`);
  for (const database of chosen) {
    console.log(`${database.name}: ${runs} sequences of up to ${commands} commands, seed ${seed}`);
    const tally = new Map<string, number>();
    const startedMs = performance.now();
    for (let done = 0; done < runs;) {
      const batch = Math.min(batchRuns, runs - done);
      // A seed for each batch: the one that fails is told and repeats without those before it.
      await checkModel(database, { seed: seed + done, runs: batch, commands, tally });
      done += batch;
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
      console.log(
        `${String(done).padStart(7)} sequences, ${tally.get("command") ?? 0} commands, ${seconds} s`,
      );
    }
    console.log(`\nNo difference. What happened, and how often:\n${table(tally)}`);
  }
}

function table(tally: ReadonlyMap<string, number>): string {
  const rows = [...tally].toSorted(([one], [other]) => one.localeCompare(other));
  return rows.map(([label, times]) => `${String(times).padStart(8)}  ${label}`).join("\n");
}

if (values.help === true) console.log(usage);
else {
  try {
    await run();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
