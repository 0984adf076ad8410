import { expect, test } from "bun:test";

import { progress } from "../../../src/cli/kit/progress.ts";

/** What is written when `steps` of `whole` are done, one second after another. */
function written(isTTY: boolean, whole: number | null, steps: readonly number[]): string {
  let nowMs = 0;
  let text = "";
  const write = (more: string) => void (text += more);
  const bar = progress("Replaying", whole, { isTTY, nowMs: () => nowMs, write });
  for (const done of steps) {
    bar.at(done, `${done} done`, [done, "events"]);
    nowMs += 1_000;
  }
  bar.end();
  return text;
}

test("a terminal gets one line with a bar, the rate and the time left", () => {
  const lines = written(true, 1_000, [0, 50, 100]).split("\r\u001b[K");
  expect(lines).toEqual([
    "",
    "Replaying [........................]   0 % 0 done",
    "Replaying [#.......................]   5 % 50 done, 50 events/s, 19 s left",
    "Replaying [##......................]  10 % 100 done, 50 events/s, 18 s left",
    "",
  ]);
});

test("another output gets a line every five seconds", () => {
  const steps = [...Array(12).keys()].map((second) => 200 + second);
  expect(written(false, 10_000, steps)).toBe(
    "Replaying 2 %: 205 done, 1.0 events/s, 3 hours left\nReplaying 2 %: 210 done, 1.0 events/s, 3 hours left\n",
  );
  expect(written(false, null, steps)).toStartWith("Replaying 205 done, 1.0 events/s\n");
  expect(written(false, 100, [1, 50])).toBe("");
});
