import { expect, test } from "bun:test";

import { logOutput } from "../../src/telemetry/log-output.ts";
import { resources } from "../support/resources.ts";

const taken = resources();

test("a line longer than the buffer is written, and so are the lines after it", async () => {
  const { logFd, text } = taken.log();
  const output = logOutput(logFd, () => {});
  const lines = ["first\n", `${"é".repeat(1024 * 1024)}\n`, "last\n"];
  for (const line of lines) {
    output.write(line);
    await output.drain(5_000);
  }
  expect(output.dropped()).toBe(0);
  expect(text()).toBe(lines.join(""));
});
