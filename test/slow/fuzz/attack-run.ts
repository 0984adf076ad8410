import { type Attack, mebibyte } from "./attacks/attack.ts";
import { harmDone, type Observation, observed } from "./bystander.ts";
import { type Victim, victims } from "./victim.ts";
import { livezLimitMs } from "./watch.ts";

/** What an attack may add to the server's anonymous memory, unless it says otherwise. */
const growthLimitBytes = 128 * mebibyte;
/** An attack fails only if it does so this often, each time but the first on a new server. */
const maxTries = 3;
/** An attack ends after this long, whatever it still wants to send. */
const attackLimitMs = 15_000;
/** Far beyond the limits: what is to be known is known. */
const hopelessMs = 2_000;
const hopelessBytes = 1_024 * mebibyte;
/** After an attack `/livez` has to answer within this, or the server is lost. */
const recoveryMs = 3_000;
/** A server that kept more than this from an attack is not taken for the next one. */
const keptLimitBytes = 64 * mebibyte;

/** What an attack did to a server. */
interface Verdict {
  readonly worstMs: number;
  readonly growthBytes: number;
  readonly usual: Observation;
  readonly seen: Observation;
  /** What is wrong; empty when nothing is. */
  readonly faults: readonly string[];
  /** Whether the server is good for another attack. */
  readonly reusable: boolean;
}

/** Tries attacks, and prints a line on each. Returns how many the server did not stand. */
export async function runAttacks(chosen: readonly Attack[]): Promise<number> {
  await using source = await victims();
  let failed = 0;
  let victim: Victim | null = null;
  try {
    for (const attack of chosen) {
      if (attack.stdout !== undefined) {
        await victim?.stop();
        victim = null;
      }
      victim ??= await source.start(attack.stdout);
      let verdict = await tried(attack, victim);
      // A busy machine, or the garbage of the attack before, is not held against a server.
      for (let tries = 1; tries < maxTries && verdict.faults.length > 0; tries += 1) {
        await victim.stop();
        victim = await source.start(attack.stdout);
        verdict = await tried(attack, victim);
      }
      if (verdict.faults.length > 0) failed += 1;
      console.log(line(attack, verdict));
      if (!verdict.reusable || attack.stdout !== undefined) {
        await victim.stop();
        victim = null;
      }
    }
  } finally {
    await victim?.stop();
  }
  console.log(`${chosen.length - failed} of ${chosen.length} attacks withstood`);
  return failed;
}

export async function tried(attack: Attack, victim: Victim): Promise<Verdict> {
  const { watch, bystander } = victim;
  const beforeBytes = watch.anonymousBytes();
  watch.reset();
  bystander.begin();
  const faults: string[] = [];
  const ended = atMost(attack.limitMs ?? attackLimitMs, attack.run(victim)).catch(
    (error: unknown) => void faults.push(error instanceof Error ? error.message : String(error)),
  );
  await Promise.race([ended, hopeless(victim, ended)]);
  const seen = await bystander.end();
  const alive = await watch.answers(recoveryMs);
  const worstMs = watch.worstMs();
  const growthBytes = watch.peakBytes() - beforeBytes;
  const limitMs = attack.livezLimitMs ?? livezLimitMs;
  if (!alive) faults.push("/livez no longer answers");
  else if (worstMs > limitMs) faults.push(`/livez over ${limitMs} ms`);
  faults.push(...harmDone(victim.usual, seen, limitMs));
  const limitBytes = attack.growthLimitBytes ?? growthLimitBytes;
  if (growthBytes > limitBytes) faults.push(`memory grew over ${mebibytes(limitBytes)}`);
  const kept = watch.anonymousBytes() - victim.idleBytes;
  const reusable = alive && kept <= keptLimitBytes && attack.leavesRows !== true;
  return { worstMs, growthBytes, usual: victim.usual, seen, faults, reusable };
}

/** Resolves with `work`, or when the time is over; the process can end then. */
async function atMost(limitMs: number, work: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, limitMs);
  try {
    await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when a server cannot pass any more, or the attack is over. */
async function hopeless({ watch }: Victim, ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.then(() => (over = true));
  while (!over && watch.worstMs() < hopelessMs && watch.peakBytes() < hopelessBytes) {
    await Bun.sleep(20);
  }
}

export function line({ name }: Attack, verdict: Verdict): string {
  const { worstMs, growthBytes, usual, seen, faults } = verdict;
  const figures = `/livez ${Math.round(worstMs)} ms`.padEnd(15);
  const memory = `memory +${mebibytes(growthBytes)}`.padEnd(18);
  const bystander = observed(usual, seen).padEnd(50);
  const outcome = faults.length === 0 ? "withstood" : `FAILED: ${faults.join("; ")}`;
  return `${name.padEnd(24)} ${figures} ${bystander} ${memory} ${outcome}`;
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`;
