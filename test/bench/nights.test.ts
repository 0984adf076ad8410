import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Readings } from "../../bench/gate.ts";
import { beyondLast, nightsOf, rowOf } from "../slow/nights.ts";

const measured = { I1: 2, E1: 4, M1: 100 };

function nights(...all: readonly { readonly readings: Readings; readonly found?: string }[]) {
  const rows = all.map(({ readings, found = "nothing" }) =>
    rowOf({ date: "2026-01-02", commit: "abc", minutes: 3, readings, found }),
  );
  return nightsOf(`# Nights\n\n| date |\n| --- |\n${rows.join("")}`);
}

test("passes up to 1.15 times the last night, and fails beyond", () => {
  const last = nights({ readings: { I1: 1, E1: 1, M1: 1 } }, { readings: measured });
  expect(beyondLast(measured, last)).toEqual([]);
  expect(beyondLast({ I1: 2.3, E1: 4.6, M1: 114.9 }, last)).toEqual([]);
  expect(beyondLast({ ...measured, E1: 4.61 }, last)).toEqual(["E1 beyond 1.15 × 4"]);
  expect(beyondLast({ I1: 2.31, E1: 4.61, M1: 116 }, last)).toHaveLength(3);
});

test("compares with the last value that was not beyond its own limit", () => {
  const slow = { ...measured, I1: 3 };
  const found = beyondLast(slow, nights({ readings: measured })).join(", ");
  const last = nights({ readings: measured }, { readings: { ...slow, E1: 4.4 }, found });
  expect(beyondLast(slow, last)).toEqual(["I1 beyond 1.15 × 2"]);
  expect(beyondLast({ ...measured, E1: 5 }, last)).toEqual([]);
});

test("skips nights without a value, and passes the first value", () => {
  const last = nights({ readings: measured }, { readings: {} });
  expect(beyondLast({ ...measured, M1: 116 }, last)).toEqual(["M1 beyond 1.15 × 100"]);
  expect(beyondLast({ ...measured, M1: 900 }, nights({ readings: {} }))).toEqual([]);
});

test("fails without a measurement", () => {
  expect(beyondLast({ I1: 2, E1: Number.NaN }, [])).toEqual([
    "E1 beyond 1.15 × nothing",
    "M1 beyond 1.15 × nothing",
  ]);
});

test("reads every row of nightly.md", () => {
  const records = readFileSync(join(import.meta.dir, "../slow/nightly.md"), "utf8");
  const rows = records.split("\n").filter((line) => /^\| \d/.test(line));
  expect(nightsOf(records).map((night) => rowOf(night).trimEnd())).toEqual(rows);
});
