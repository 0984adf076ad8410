import { expect, test } from "bun:test";

import { resultsWith } from "../../bench/results.ts";

const rowsOf = (results: string, goal: string) =>
  results
    .split("\n")
    .map((line) => line.split(/ *\| */))
    .filter(([, name]) => name === goal)
    .map((cells) => cells.slice(2, 6));

test("a goal is the median of the ratios of the same rounds", () => {
  const figures = { U: [100, 200, 50], ingest: [130, 300, 100] };
  const results = resultsWith("", "ingest", { figures, text: [] }, 100);
  expect(rowsOf(results, "I1 ingest")).toEqual([["≤ 1.4 U", "1.5 U", "1.3 to 2", "missed"]]);
  expect(results).toMatch(/^- commit \S+, U 100\.0 µs$/m);
});

test("a suite replaces its section and its goals, and keeps those of others", () => {
  const report = (megabytes: number) => ({
    figures: { memory50k: [megabytes] },
    text: [`after ${megabytes} MB`],
  });
  const graphql = { figures: { restPage: [70], graphqlPage: [100] }, text: ["pages"] };
  const first = resultsWith("", "memory", report(150), 90);
  const both = resultsWith(first, "graphql", graphql, 80);
  const results = resultsWith(both, "memory", report(110), 100);
  const memory = "M1 own memory, 50,000 webhooks";
  expect(rowsOf(first, memory)).toEqual([["≤ 120 MB", "150 MB", "150 to 150", "missed"]]);
  expect(rowsOf(results, memory)).toEqual([["≤ 120 MB", "110 MB", "110 to 110", "met"]]);
  expect(rowsOf(results, "G1 REST page ÷ GraphQL page")).toEqual(
    rowsOf(both, "G1 REST page ÷ GraphQL page"),
  );
  expect(results.match(/^## .*/gm)).toEqual(["## Goals", "## memory", "## graphql"]);
  expect(results).not.toContain("150 MB");
});
