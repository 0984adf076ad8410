import fc from "fast-check";

/** Whether tests try all cases, as they do by night. */
export const isFull = process.env["FULL_PROPERTIES"] === "1";

/** The number of runs of a property: a fifth of `full`, or all of them with FULL_PROPERTIES=1. */
export const runs = (full: number): number => (isFull ? full : Math.ceil(full / 5));

/** So many of the cases, chosen at random, or all of them with FULL_PROPERTIES=1. */
export const sampleOf = <Case>(cases: readonly Case[], count: number): readonly Case[] =>
  isFull
    ? cases
    : Array.from(cases, (one) => ({ one, turn: Math.random() }))
        .toSorted((left, right) => left.turn - right.turn)
        .slice(0, count)
        .map(({ one }) => one);

type Arbitraries<Values extends unknown[]> = {
  [Index in keyof Values]: fc.Arbitrary<Values[Index]>;
};

/** Checks that something holds for so many random values of some kinds. */
export function forAll<Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  kinds: [...Arbitraries<Values>],
  check: (...values: Values) => boolean | void,
): void {
  fc.assert(fc.property<Values>(...kinds, check), { numRuns });
}

export const forAllAsync = <Values extends [unknown, ...unknown[]]>(
  numRuns: number,
  kinds: [...Arbitraries<Values>],
  check: (...values: Values) => Promise<boolean | void>,
): Promise<void> => fc.assert(fc.asyncProperty<Values>(...kinds, check), { numRuns });
