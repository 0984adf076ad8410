import { expect, test } from "bun:test";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { join } from "node:path";

import { createLog } from "../../src/telemetry/log.ts";
import { runInSpan, type Span } from "../../src/telemetry/tracing/span.ts";
import { until } from "../support/app.ts";
import { run } from "../support/disk.ts";
import { resources } from "../support/resources.ts";
import { noPipes, skips } from "../support/skips.ts";

const taken = resources();

const span: Span = {
  context: { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true, state: null },
  clockOffsetMs: 0,
  set() {},
  end() {},
};

test.skipIf(skips(noPipes))(
  "a log line has the ids of the active span; the line about dropped lines has none",
  async () => {
    const file = join(taken.newFolder(), "log");
    run(["mkfifo", file]);
    const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(file, constants.O_WRONLY);
    taken.ends.push(
      () => closeSync(reader),
      () => closeSync(writer),
    );
    const log = createLog({ level: "info", format: "json", traces: true, fd: writer });
    runInSpan(span, () => {
      const text = "x".repeat(10_000);
      while (log.dropped() === 0) log.info(text);
    });
    let logged = "";
    const buffer = Buffer.alloc(65_536);
    await until(() => {
      try {
        logged += buffer.toString("utf8", 0, readSync(reader, buffer));
      } catch {
        // The pipe is still empty.
      }
      return logged.includes("log output resumed") && logged.endsWith("\n");
    });
    const entries: { msg: string; trace_id?: string; span_id?: string }[] = logged
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const { traceId: trace_id, spanId: span_id } = span.context;
    expect(entries[0]).toMatchObject({ trace_id, span_id });
    expect(entries.at(-1)?.msg).toStartWith("log output resumed");
    expect(entries.at(-1)).not.toHaveProperty("trace_id");
  },
);
