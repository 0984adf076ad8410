import { expect, test } from "bun:test";

import { partlySlowFiles, wholeSlowFiles } from "../slow/binary/files.ts";

import { defaultFiles, longFiles, sampleOf, shortSlowFiles } from "./sample.ts";

const samples = Array.from({ length: 100 }, (_, commit) =>
  sampleOf(longFiles, "slow", String(commit), new Set()),
);

test("a hundred commits try each long file, some six times as many as one of them", () => {
  expect(new Set(samples.flat()).size).toBe(longFiles.length);
  const average = samples.flat().length / samples.length;
  expect(longFiles.length / average).toBeGreaterThan(4);
  expect(longFiles.length / average).toBeLessThan(8);
});

test("a commit has the same sample each time", () => {
  expect(sampleOf(longFiles, "slow", "7", new Set())).toEqual(samples[7] ?? []);
});

test("a file that changed is in every sample", () => {
  const [file = ""] = longFiles;
  for (let commit = 0; commit < 20; commit += 1) {
    expect(sampleOf(longFiles, "slow", String(commit), new Set([file]))).toContain(file);
  }
});

// A name that matches no file would run nothing, and pass.
test("the compiled program is tested by files that exist", () => {
  const files = new Set([...shortSlowFiles, ...longFiles, ...defaultFiles]);
  expect([...wholeSlowFiles, ...partlySlowFiles].filter((file) => !files.has(file))).toEqual([]);
});
