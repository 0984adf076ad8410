import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { randomNumbers } from "../../support/random.ts";

import { type Dice, type Outcome, outcomeOfNames, randomOutcome } from "./dice.ts";
import type { Change, Disk, Fate, Image } from "./disk.ts";
import type { Claims } from "./scenario.ts";
import type { Step } from "./steps.ts";

/** What programs did, and what a power cut must not take from them. */
export interface Recording {
  readonly steps: readonly Step[];
  /** The disk before the first step. */
  disk(): Disk;
  claims(): Claims;
}

/** A power cut that lost or damaged something. */
export interface Loss {
  /** The number of steps before the cut. */
  readonly step: number;
  readonly wrong: readonly string[];
  /** The changes that the cut took, as few as still cause a loss. */
  readonly taken: readonly string[];
  /** The last things that the programs did before the cut. */
  readonly before: readonly string[];
}

/** A power cut after a number of steps. */
interface Cut {
  readonly step: number;
  readonly outcome: (pending: readonly Change[]) => Outcome;
}

/** Up to so many names that are not synced, every combination of kept and dropped ones is tried. */
const mostNames = 5;

/** The ratio of cuts that may be after changes of names. */
const mostOfNames = 0.8;

/** How many images are tried to find a loss from fewer changes. */
const mostShrinks = 300;

/**
 * Cuts the power at random points of a recording and checks what is left on the disk, in `folder`, which must not
 * exist. Returns the first loss; null if nothing was lost.
 */
export async function cutPower(
  { steps, ...recording }: Recording,
  { images, seed, folder }: { images: number; seed: number; folder: string },
): Promise<Loss | null> {
  const [disk, claims] = [recording.disk(), recording.claims()];
  const roll = randomNumbers(seed);
  let done = 0;
  for (const { step, outcome: decided } of plannedCuts(steps, recording.disk(), images, roll)) {
    for (const next of steps.slice(done, step)) {
      disk.apply(next);
      claims.hear(next);
    }
    done = step;
    const pending = disk.pending();
    const outcome = decided(pending);
    const wrong = await wrongAfter(disk, outcome, claims, folder);
    if (wrong.length === 0) continue;
    const least = await smallest(outcome, async (smaller) => {
      return (await wrongAfter(disk, smaller, claims, folder)).length > 0;
    });
    return {
      step,
      wrong: await wrongAfter(disk, least, claims, folder),
      taken: takenOf(pending, least),
      before: steps.slice(Math.max(0, step - 8), step).map(inWords),
    };
  }
  return null;
}

/** In order. Most may be after changes of names, which are few but dangerous; the others are anywhere. */
function plannedCuts(
  steps: readonly Step[],
  disk: Disk,
  images: number,
  roll: Dice,
): readonly Cut[] {
  const ofNames = cutsOfNames(steps, disk, roll);
  const ratio = Math.min(1, (images * mostOfNames) / ofNames.length);
  const chosen = ofNames.filter(() => roll() < ratio);
  // One in each of as many equal parts.
  const parts = images - chosen.length;
  const anywhere = Array.from({ length: parts }, (_, part) => ({
    step: Math.floor(((part + roll()) / parts) * (steps.length + 1)),
    outcome: (pending: readonly Change[]) => randomOutcome(pending, roll),
  }));
  return [...chosen, ...anywhere].toSorted((one, other) => one.step - other.step);
}

/** A cut after each change of a name, for each combination of the names that are kept. */
function cutsOfNames(steps: readonly Step[], disk: Disk, roll: Dice): readonly Cut[] {
  const cuts: Cut[] = [];
  let last = 0;
  for (const [index, step] of steps.entries()) {
    disk.apply(step);
    if (["write", "send", "print", "truncate", "sync"].includes(step.does)) continue;
    const names = disk.pending().filter(({ isOfNames }) => isOfNames);
    const newest = names.at(-1)?.number ?? 0;
    // The step changed no name, for example it opened a file.
    if (newest <= last) continue;
    last = newest;
    const combinations = 2 ** Math.min(names.length, mostNames);
    for (let nth = 0; nth < combinations; nth += 1) {
      const kept = names.length > mostNames ? Math.floor(roll() * 2 ** names.length) : nth;
      const outcome = (pending: readonly Change[]) => outcomeOfNames(pending, roll, kept);
      cuts.push({ step: index + 1, outcome });
    }
  }
  return cuts;
}

async function wrongAfter(
  disk: Disk,
  { fates, ...behaviour }: Outcome,
  claims: Claims,
  folder: string,
): Promise<readonly string[]> {
  write(disk.after({ ...behaviour, fateOf: (change) => fates.get(change) ?? "kept" }), folder);
  try {
    return await claims.wrongIn(folder);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

function write(image: Image, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, content] of image) {
    if (content === null) mkdirSync(join(folder, path));
    else writeFileSync(join(folder, path), content);
  }
}

/** Keeps more and more changes, as long as something is still lost: halves first, then ever smaller parts. */
async function smallest(
  outcome: Outcome,
  fails: (outcome: Outcome) => Promise<boolean>,
): Promise<Outcome> {
  let least = outcome;
  let tries = 0;
  const taken = () => [...least.fates].filter(([, fate]) => fate !== "kept");
  for (let parts = 2; tries < mostShrinks && taken().length > 1; parts *= 2) {
    const all = taken();
    const size = Math.max(1, Math.ceil(all.length / parts));
    for (let start = 0; start < all.length && tries < mostShrinks; start += size, tries += 1) {
      const kept: readonly [number, Fate][] = all
        .slice(start, start + size)
        .map(([change]) => [change, "kept"]);
      const fewer = { ...least, fates: new Map([...least.fates, ...kept]) };
      if (await fails(fewer)) least = fewer;
    }
    if (size === 1) break;
  }
  return least;
}

function takenOf(pending: readonly Change[], { fates }: Outcome): readonly string[] {
  return pending.flatMap(({ number, what }) => {
    const fate = fates.get(number) ?? "kept";
    return fate === "kept" ? [] : [`${fate === "dropped" ? "dropped" : "torn"}: ${what}`];
  });
}

function inWords(step: Step): string {
  switch (step.does) {
    case "send":
    case "print":
      return `${step.does} ${JSON.stringify(step.data.toString("latin1", 0, 60))}`;
    case "write":
      return `write ${step.data.length} bytes of ${step.path} at ${step.offset}`;
    default:
      return `${step.does} ${step.path}`;
  }
}
