import { describe, expect, test } from "bun:test";

import { readOutput } from "./output.ts";

const printed = `bun test v1.4.5

test/one.test.ts:
(pass) a > passes [1500.50ms]
error: expected 1
(fail) a > fails [2.00ms]
(skip) a > needs a broker

test/two.test.tsx:
 3 pass
(pass) passes, without a time

1 tests failed:
(fail) a > fails [2.00ms]

 --seed=42
 2 pass
 1 skip
 1 fail
Ran 4 tests across 2 files. [1.00s]
`;

/** The same, as a terminal shows it. */
const inTerminal = printed
  .replaceAll("(pass)", "\u001b[32m✓\u001b[0m")
  .replaceAll("(fail)", "\u001b[31m✗\u001b[0m")
  .replaceAll("(skip)", "\u001b[33m»\u001b[0m")
  .replaceAll("\n", "\r\n");

describe.each([
  ["in a pipe", printed],
  ["in a terminal", inTerminal],
])("the output of bun test %s", (_, text) => {
  const output = readOutput(text);

  test("has the counts and the seed of its summary", () => {
    expect(output.counts).toEqual({ passed: 2, failed: 1 });
    expect(output.seed).toBe("42");
  });

  test("names each failed and each skipped test once", () => {
    expect(output.failures).toMatchObject([{ file: "test/one.test.ts", title: "a > fails" }]);
    expect(output.failures[0]?.excerpt).toContain("error: expected 1");
    expect(output.skipped).toEqual([{ file: "test/one.test.ts", title: "a > needs a broker" }]);
  });

  test("has the time of each file", () => {
    expect([...output.fileMs]).toEqual([
      ["test/one.test.ts", 1502.5],
      ["test/two.test.tsx", 0],
    ]);
  });
});

test("an output without a summary has no counts", () => {
  expect(readOutput("test/one.test.ts:\n(pass) passes [1.00ms]\nkilled\n").counts).toBeNull();
  expect(readOutput("").counts).toBeNull();
});

test("an error outside of tests is a failure of its file", () => {
  const { failures } = readOutput(
    "test/one.test.ts:\n# Unhandled error between tests\nerror: no\n",
  );
  expect(failures).toMatchObject([{ file: "test/one.test.ts" }]);
});
