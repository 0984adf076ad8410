import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startApp, type TestApp } from "../../support/app.ts";
import { type LongRun, rounds, seed } from "../long-run.ts";

import { type Case, cases } from "./cases.ts";
import { fill } from "./fill.ts";

/** The longest turn of the event loop that a read may cause, in processor time of the main thread. */
const maxTurnMs = 10;
/** The longest time until the answer, for a million events. What no index answers takes its time on another thread. */
const maxAnswerMs = 5_000;
/** A failure counts if it is one each time, since other programs and the collector of garbage add to a turn. */
const tries = 3;

export const reads: LongRun = {
  name: "reads",
  about: "reads every list with every two filters, and times the turns of the event loop",
  description: `Fills a database file with events, their deliveries and everything else that is listed, and reads each list with
each of its filters and each two of them: with many matches, with few that are the oldest, and with none. Ends with 1
if a read takes the event loop ${maxTurnMs} ms or more in one turn, each of ${tries} times, or answers after ${maxAnswerMs / 1_000} s.`,
  flags: {
    rows: rounds(1_000_000, "events"),
    seed: { ...seed, about: "changes nothing" },
    only: { takes: "text", about: "paths with this text" },
  },

  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), "skyhook-reads-"));
    try {
      const url = `sqlite:${join(folder, "skyhook.db")}`;
      await fill(url, options.number("rows"));
      await using app = await startApp({ DATABASE_URL: url });
      const wanted = options.text("only") ?? "";
      const found = (await cases(app)).filter(({ path }) => path.includes(wanted));
      // The first requests compile their code and statements.
      for (const each of found.slice(0, 200)) await read(app, each);
      let faults = 0;
      for (const each of found) faults += (await isGood(app, each)) ? 0 : 1;
      console.log(`${found.length} reads, ${faults} of them too long`);
      return faults === 0 && found.length > 0;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function isGood(app: TestApp, each: Case): Promise<boolean> {
  const turns: number[] = [];
  const answers: number[] = [];
  while (turns.length < tries) {
    const startedMs = performance.now();
    turns.push(await longestTurnMs(() => read(app, each)));
    answers.push(performance.now() - startedMs);
    if (Math.min(...turns) < maxTurnMs && Math.min(...answers) < maxAnswerMs) return true;
  }
  const [turn, answer] = [Math.min(...turns), Math.min(...answers)];
  console.log(
    `${turn.toFixed(1)} ms in one turn, ${answer.toFixed(0)} ms: ${decodeURIComponent(each.path)}`,
  );
  return false;
}

/** Throws unless the list can be read. */
async function read(app: TestApp, { role, path }: Case): Promise<void> {
  const response = await app.as(role, path);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} for ${path}: ${text}`);
}

/** The most processor time of this thread in one turn of the event loop until `work` ends. */
async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let isRunning = true;
  let [cpu, startedMs] = [process.threadCpuUsage(), performance.now()];
  const turn = () => {
    const { user, system } = process.threadCpuUsage(cpu);
    // The system adds processor time up at its ticks, of 4 ms or so: short turns before may be among it.
    longest = Math.max(longest, Math.min((user + system) / 1_000, performance.now() - startedMs));
    [cpu, startedMs] = [process.threadCpuUsage(), performance.now()];
    if (isRunning) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isRunning = false;
  turn();
  return longest;
}
