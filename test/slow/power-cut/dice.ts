import { randomNumbers } from "../../support/random.ts";

import type { Change, Fate, PowerCut } from "./disk.ts";

export type Dice = () => number;

/** What has become of each change that is not kept, by its number, and how the disk behaves. */
export interface Outcome {
  readonly fates: ReadonlyMap<number, Fate>;
  readonly blockBytes: PowerCut["blockBytes"];
  readonly unwritten: number;
}

/** Decides at random what a power cut leaves of the pending changes, oldest first. */
export function randomOutcome(pending: readonly Change[], roll: Dice): Outcome {
  const mood = moods[Math.floor(roll() * moods.length)] ?? allDropped;
  return outcomeOf(pending, mood(pending, roll), roll);
}

/** Keeps the names in `kept`, as bits from the oldest, and drops the others. Of the content, keeps all or some. */
export function outcomeOfNames(pending: readonly Change[], roll: Dice, kept: number): Outcome {
  const content = roll() < 0.5 ? null : each(pending, roll);
  let name = 0;
  const fates = pending.map(({ isOfNames }, index): Fate => {
    if (!isOfNames) return content?.[index] ?? "kept";
    name += 1;
    return (kept >> (name - 1)) & 1 ? "kept" : "dropped";
  });
  return outcomeOf(pending, fates, roll);
}

const outcomeOf = (pending: readonly Change[], fates: readonly Fate[], roll: Dice): Outcome => ({
  fates: new Map(pending.map(({ number }, index) => [number, fates[index] ?? "kept"])),
  blockBytes: roll() < 0.5 ? 512 : 4096,
  unwritten: roll() < 0.5 ? 0 : 1 + Math.floor(roll() * 255),
});

type Mood = (pending: readonly Change[], roll: Dice) => readonly Fate[];

const allDropped: Mood = (pending) => pending.map(() => "dropped");

/** Everything up to one change, which is torn, and nothing after it. */
const inOrder: Mood = (pending, roll) => {
  const last = Math.floor(roll() * (pending.length + 1));
  return pending.map((_, index) =>
    index < last ? "kept" : index === last ? torn(roll) : "dropped",
  );
};

/** Everything but one change. */
const allButOne: Mood = (pending, roll) => {
  const one = Math.floor(roll() * pending.length);
  return pending.map((_, index) => (index === one ? droppedOrTorn(roll) : "kept"));
};

/** Nothing but one change. */
const oneOnly: Mood = (pending, roll) => {
  const one = Math.floor(roll() * pending.length);
  return pending.map((_, index) => (index === one ? "kept" : "dropped"));
};

/** Each change for itself. */
const each: Mood = (pending, roll) => {
  const keptRatio = [0.1, 0.5, 0.9][Math.floor(roll() * 3)] ?? 0.5;
  return pending.map(() => (roll() < keptRatio ? "kept" : droppedOrTorn(roll)));
};

const moods: readonly Mood[] = [allDropped, inOrder, inOrder, allButOne, oneOnly, each, each, each];

const droppedOrTorn = (roll: Dice): Fate => (roll() < 0.5 ? "dropped" : torn(roll));

/** Written from the start, from the end, or in any blocks. */
function torn(roll: Dice): Fate {
  const way = roll();
  const ratio = roll();
  if (way < 0.3) return (block, of) => block < ratio * of;
  if (way < 0.6) return (block, of) => block >= ratio * of;
  const seed = Math.floor(roll() * 2 ** 31);
  return (block) => randomNumbers(seed + block)() < ratio;
}
