import { expect, test } from "bun:test";

import { logOutput } from "../../src/telemetry/log-output.ts";
import { createLog } from "../../src/telemetry/log.ts";
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

test("a line for people has no character that moves the cursor or reorders the text", async () => {
  const { logFd: fd, text } = taken.log();
  const log = createLog({ level: "info", format: "pretty", fd });
  log.warn({ type: "a\u001b[2J\u202e\u2028" }, "sent\u001b]0;x\u0007\nb\u202e\u0085");
  await log.drain(5_000);
  expect(text()).toMatch(/^[ -~]+\n$/);
  expect(text()).toContain(String.raw`sent\u001b]0;x\u0007\u000ab\u202e\u0085`);
});
