import { describe, expect, test } from "bun:test";
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { errorCode } from "../../../src/base/errors.ts";
import { until } from "../../support/app.ts";
import { mountedDisk, run, whyNoMount } from "../../support/disk.ts";
import { deliverTo } from "../../support/load.ts";
import type { RunningServer } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { noPipes, skips } from "../../support/skips.ts";

const taken = resources();

/** How much the program buffers while it cannot write its log. */
const bufferBytes = 1024 * 1024;

/** Starts a server that logs to `file`. */
const startInto = (file: string) => taken.start(taken.newFolder(), {}, { logTo: file });

let delivered = 0;

/** Delivers that many, some at a time. Returns the statuses that occurred. */
async function deliver(server: RunningServer, count: number): Promise<number[]> {
  const last = delivered + count;
  const statuses = new Set<number>();
  const work = async () => {
    while (delivered < last) statuses.add(await deliverTo(server, ++delivered));
  };
  await Promise.all(Array.from({ length: 20 }, work));
  return [...statuses];
}

async function droppedBy({ url }: RunningServer): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^skyhook_log_dropped_total (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}

/** Delivers until log lines are dropped. Checks that all requests are answered and memory stays bounded. */
async function deliverUntilDropped(server: RunningServer): Promise<void> {
  const before = anonymousBytes(server);
  while ((await droppedBy(server)) === 0) {
    expect(await deliver(server, 500)).toEqual([200]);
    const startedMs = performance.now();
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  }
  expect(await deliver(server, 500)).toEqual([200]);
  expect(anonymousBytes(server) - before).toBeLessThan(100 * bufferBytes);
}

/** 0 if the operating system does not report it. */
function anonymousBytes({ pid }: RunningServer): number {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return 0;
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"))?.[1]) * 1024;
}

/** Checks that all lines are complete, and that the line about dropped ones has their number. */
async function expectResumed(server: RunningServer, log: () => string): Promise<void> {
  await until(() => log().includes("log output resumed"));
  expect(await deliver(server, 1)).toEqual([200]);
  await until(() => log().includes(`"idempotencyKey":"task_tracker:d-${delivered}"`));
  const entries: { msg: string; level: number; dropped?: number }[] = log()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const resumed = entries.filter(({ msg }) => msg.startsWith("log output resumed"));
  expect(resumed.map(({ level, dropped }) => ({ level, dropped }))).toEqual([
    { level: 50, dropped: await droppedBy(server) },
  ]);
}

describe("a log that cannot be written", () => {
  const noDevice = existsSync("/dev/full") ? null : "/dev/full does not exist";

  test.skipIf(skips(noDevice))("does not affect deliveries", async () => {
    const server = await startInto("/dev/full");
    await deliverUntilDropped(server);
    expect(await server.stop()).toBe(0);
  });

  test.skipIf(skips(whyNoMount))("resumes when its disk has space again [LOG-1]", async () => {
    const { folder } = mountedDisk(taken);
    const log = join(folder, "log");
    const server = await startInto(log);
    const ballast = join(folder, "ballast");
    const { bavail, bsize } = statfsSync(folder);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    await deliverUntilDropped(server);
    rmSync(ballast);
    await expectResumed(server, () => readFileSync(log, "utf8"));
    expect(await server.stop()).toBe(0);
    expect(readFileSync(log, "utf8")).toEndWith('"msg":"stopped"}\n');
  });
});

describe.skipIf(skips(noPipes))("a log that no process reads", () => {
  /** A named pipe that is read only on demand. */
  function pipe() {
    const file = join(taken.newFolder(), "log");
    run(["mkfifo", file]);
    // Without O_NONBLOCK, opening blocks until there is a writer, and reading until it writes.
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(65_536);
    let text = "";
    return {
      file,
      close: () => closeSync(fd),
      /** Everything read so far. */
      read: (): string => {
        try {
          for (let size = 1; size > 0;) {
            size = readSync(fd, buffer);
            text += buffer.toString("utf8", 0, size);
          }
        } catch (error) {
          if (errorCode(error) !== "EAGAIN") throw error;
        }
        return text;
      },
    };
  }

  test("delays neither deliveries nor /livez, and resumes when it is read [LOG-2]", async () => {
    const { file, read, close } = pipe();
    const server = await startInto(file);
    await deliverUntilDropped(server);
    await expectResumed(server, read);
    close();
  });

  test("does not delay a stop", async () => {
    const { file, close } = pipe();
    const server = await startInto(file);
    await deliverUntilDropped(server);
    expect(await server.stop()).toBe(0);
    close();
  });

  test("and whose reader has exited does not stop the server [LOG-3]", async () => {
    const { file, close } = pipe();
    const server = await startInto(file);
    close();
    await deliverUntilDropped(server);
    expect(await server.stop()).toBe(0);
  });
});
