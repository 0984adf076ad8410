import fc from "fast-check";

import type { BookingRow } from "./store.ts";
import type { World } from "./world.ts";

/** A step in the lives of bookings. */
export type Step = fc.AsyncCommand<object, World>;

/** The booking that a step changes, and how. */
interface Outcome {
  readonly id: string;
  readonly fields: Partial<BookingRow>;
}
export const nothing: Outcome = { id: "", fields: {} };

/** `run` returns what should have changed; null: anything, as long as what must always hold does. */
export const step = <Input extends object>(
  name: string,
  input: fc.Arbitrary<Input>,
  run: (world: World, input: Input) => Promise<Outcome | null>,
): fc.Arbitrary<Step> =>
  input.map((values) => ({
    check: () => true,
    async run(_, world) {
      const outcome = await run(world, values);
      const after = await world.settled();
      if (outcome !== null) world.compare(after, outcome);
      world.before = after;
    },
    toString: () => `${name} ${JSON.stringify(values)}`,
  }));

export const at = fc.nat({ max: 1 });
export const which = fc.nat({ max: 11 });
export const seats = fc.integer({ min: 1, max: 3 });
export const pick = <Item>(items: readonly Item[], index: number): Item | undefined =>
  items[index % Math.max(1, items.length)];

/** An event about a new payment. */
export function payment(world: World, { id: booking }: BookingRow, minor: number) {
  const id = `pi_${world.payments.length}`;
  world.payments.push({ id, booking, minor });
  return { id, amount_received: minor, currency: "usd", metadata: { booking } };
}
