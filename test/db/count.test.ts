import { expect, test } from "bun:test";

import { countInSlices } from "../../src/db/in-turn.ts";
import { turns } from "../support/turns.ts";

/** A list of numbers from 1, in slices of ten. */
function numbers(length: number, onSlice: () => void) {
  const lastOfSlice = async (from: number | null) => {
    onSlice();
    const last = (from ?? 0) + 10;
    return last > length ? undefined : last;
  };
  return countInSlices(lastOfSlice, async (from, last) => (last ?? length) - (from ?? 0));
}

test.each([0, 1, 9, 10, 11, 100, 101])("a list of %d is counted exactly", async (length) => {
  expect(await numbers(length, () => {})).toBe(length);
});

test("each turn of the event loop counts one slice, also when several lists are counted", async () => {
  using turn = turns();
  const slices: number[] = [];
  const onSlice = () => slices.push(turn.now());
  const totals = await Promise.all([numbers(35, onSlice), numbers(25, onSlice)]);
  expect(totals).toEqual([35, 25]);
  expect(slices).toHaveLength(4 + 3);
  expect(new Set(slices).size).toBe(slices.length);
});

test("a slice that fails ends its count, and no other", async () => {
  const failing = countInSlices<number>(
    () => Promise.reject(new Error("disk")),
    async () => 0,
  );
  const [failed, total] = await Promise.allSettled([failing, numbers(35, () => {})]);
  expect(failed.status).toBe("rejected");
  expect(total).toEqual({ status: "fulfilled", value: 35 });
});
