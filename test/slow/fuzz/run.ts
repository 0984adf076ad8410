import { chosen, type LongRun, minutes, rounds, sampleOf, seed } from "../long-run.ts";

import { runAttacks } from "./attack-run.ts";
import { attacks } from "./attacks.ts";
import { checkLeaks } from "./oracle.ts";
import { runPlanted } from "./planted.ts";
import { answersByStatus, type Failure, replayCommand, type Target } from "./target.ts";
import { targets } from "./targets.ts";
import { startWorld, type World } from "./world.ts";

/** Cases of a target before the next one has its turn. */
const runsATurn = 100;
/** A turn ends after this long, in the midst of making a case smaller too. */
const turnLimitMs = 30_000;
const progressEveryMs = 10_000;

interface Plan {
  readonly minutes: number;
  readonly seed: number;
  readonly chosen: readonly Target[];
  readonly path: string | undefined;
}

/** What a run found out so far. */
interface Tally {
  cases: number;
  readonly anonymousBytes: number[];
  /** The longest that `/livez` took, by target, in ms. */
  readonly worstMs: Map<string, number>;
}

/** Turn by turn until the time is up or something is found; null when nothing was. */
async function fuzzUntil(world: World, options: Plan, tally: Tally): Promise<string | null> {
  const deadline = performance.now() + options.minutes * 60_000;
  let nextProgress = performance.now() + progressEveryMs;
  // Turns of a target have seeds in a row, so that --seed begins with the turn that failed.
  for (let seed = options.seed; ; seed += 1) {
    for (const target of options.chosen) {
      const found = await turn(world, target, seed, options.path, tally);
      if (found !== null) return found;
      if (performance.now() >= nextProgress) {
        console.log(progressLine(world, target, tally, deadline - performance.now()));
        nextProgress = performance.now() + progressEveryMs;
      }
      if (performance.now() >= deadline || options.path !== undefined) return null;
    }
  }
}

async function turn(
  world: World,
  target: Target,
  seed: number,
  path: string | undefined,
  tally: Tally,
): Promise<string | null> {
  const outcome = await target.run(world, {
    seed,
    runs: runsATurn,
    timeLimitMs: turnLimitMs,
    ...(path !== undefined && { path }),
  });
  tally.cases += outcome.runs;
  tally.anonymousBytes.push(world.watch?.anonymousBytes() ?? 0);
  tally.worstMs.set(target.name, Math.max(outcome.worstMs, tally.worstMs.get(target.name) ?? 0));
  if (outcome.failure !== null) return described(target, seed, outcome.failure);
  try {
    await world.checkHealth();
    checkLeaks(world.newLog(), world, "The log");
    return null;
  } catch (error) {
    // What is found only after the turn has no one case: the whole turn shows it.
    const message = error instanceof Error ? error.message : String(error);
    const counterexample = `one of the ${runsATurn} cases of this turn`;
    return described(target, seed, { message, counterexample, path: "" });
  }
}

const described = (
  { name }: Target,
  seed: number,
  { message, counterexample, path }: Failure,
): string =>
  `${name}: ${message}\n\nSmallest case:\n${counterexample}\n\nAgain: ${replayCommand(name, seed, path)}`;

function progressLine(world: World, { name }: Target, { cases }: Tally, leftMs: number): string {
  const left = `${Math.max(0, Math.ceil(leftMs / 1_000))} s left`;
  const memory = `memory ${mebibytes(world.watch?.anonymousBytes() ?? 0)}`;
  return [left, `${cases} cases`, answers(), memory, name].join(" · ");
}

const answers = (): string =>
  [...answersByStatus]
    .toSorted(([one], [other]) => one - other)
    .map(([status, count]) => `${status}: ${count}`)
    .join(" ");

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** The memory of the server over the run, in tenths of it, so that growth is seen. */
function memoryLine({ anonymousBytes }: Tally): string {
  const tenths = Array.from({ length: 10 }, (_, index) => {
    const part = anonymousBytes.slice(
      Math.floor((index * anonymousBytes.length) / 10),
      Math.ceil(((index + 1) * anonymousBytes.length) / 10),
    );
    return Math.round(Math.max(0, ...part) / 1_048_576);
  });
  return `anonymous memory of the server, the most in each tenth of the run, MiB: ${tenths.join(" ")}`;
}

const livezLine = ({ worstMs }: Tally): string =>
  `the longest /livez took, ms: ${[...worstMs].map(([name, ms]) => `${name} ${Math.round(ms)}`).join(", ")}`;

export const fuzz: LongRun = {
  name: "fuzz",
  about: "sends requests that nobody should send, or attacks, and judges every answer",
  description: `Sends what nobody should send to a server of its own, on a free port, with a database of its own.
Prints the smallest case of what it finds.

Targets
${targets.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`).join("\n")}

Attacks
${attacks.map(({ name, about }) => `  ${name.padEnd(24)} ${about}`).join("\n")}`,
  flags: {
    minutes: minutes(10),
    seed,
    target: { takes: "text", about: "one subject alone, as often as there is time" },
    path: {
      takes: "text",
      about: "of --target and --seed: only that case; as a failure prints it",
    },
    attacks: {
      takes: "nothing",
      about: "instead of cases: every attack once, each on a watched server",
    },
    attack: { takes: "text", about: "one attack alone" },
    sample: rounds(1_000, "so many attacks, chosen by the seed"),
    planted: {
      takes: "nothing",
      about: "attacks on copies of the program with known errors, which they must find",
    },
  },

  async run(options) {
    if (options.has("planted")) return (await runPlanted()) === 0;
    const attack = options.text("attack");
    if (options.has("attacks") || attack !== undefined) {
      const named = attacks.filter(({ name }) => name === (attack ?? name));
      if (named.length === 0) throw new Error(`There is no attack "${attack}". Try --help.`);
      const sample = options.has("sample") ? sampleOf(named, options) : named;
      return (await runAttacks(sample)) === 0;
    }
    const path = options.text("path");
    if (path !== undefined && !options.has("target")) {
      throw new Error("--path goes with --target and --seed, as a failure prints them");
    }
    const plan = {
      minutes: options.number("minutes"),
      seed: options.number("seed"),
      chosen: chosen(targets, options, "target"),
      path,
    };
    return (await search(plan)) === null;
  },
};

/** What was found; null when nothing was. */
async function search(plan: Plan): Promise<string | null> {
  const world = await startWorld({ isWatched: true });
  // The server does not outlive a run that is broken off.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => void world.stop().then(() => process.exit(130)));
  }
  const tally: Tally = { cases: 0, anonymousBytes: [], worstMs: new Map() };
  console.log(`seed ${plan.seed}`);
  try {
    const found = await fuzzUntil(world, plan, tally);
    console.log(`\n${tally.cases} cases · ${answers()}\n${memoryLine(tally)}\n${livezLine(tally)}`);
    console.log(found === null ? "Nothing found" : `\nFound\n${found}`);
    return found;
  } finally {
    await world.stop();
  }
}
