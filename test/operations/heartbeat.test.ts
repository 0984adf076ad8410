import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type TestApp, until } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { mountedDisk, whyNoMount } from "../support/disk.ts";
import { post } from "../support/flights.ts";
import { never, type Received } from "../support/gateway.ts";
import { resources } from "../support/resources.ts";
import { openedBeside } from "../support/rows.ts";
import { skips } from "../support/skips.ts";

const taken = resources();
const minuteMs = 60_000;

/** An app with a database in a folder, which calls a server each minute. */
async function beating(
  folder: string,
  answer: (number: number, received: Received) => Response | Promise<Response> = () =>
    new Response(),
) {
  const watcher = taken.gateway(answer);
  const { logFd, text } = taken.log();
  const file = join(folder, "skyhook.db");
  const clock = requestClock();
  const app = await taken.app(
    {
      DATABASE_URL: `sqlite:${file}`,
      HEARTBEAT_URL: `${watcher.url}/s3cret?rid=1`,
      DESTINATIONS_ALLOW_PRIVATE: "true",
      LOG_LEVEL: "info",
      LOG_FORMAT: "json",
    },
    clock,
    { logFd },
  );
  const lines = () =>
    text()
      .split("\n")
      .filter((line) => line.includes('"heartbeat'))
      .map((line) => [JSON.parse(line).msg, JSON.parse(line).reason]);
  /** Lets a minute pass, with its call, if there is one. */
  async function minute(): Promise<void> {
    const before = watcher.received.length;
    clock.advance(minuteMs);
    for (let waits = 0; waits < 40 && watcher.received.length === before; waits += 1) {
      await Bun.sleep(5);
    }
    await until(() => clock.waiting() === 0);
  }
  async function minutesUntil(isDone: () => boolean): Promise<void> {
    for (let minutes = 0; !isDone(); minutes += 1) {
      if (minutes > 40) throw new Error("It was not true within forty minutes");
      await minute();
    }
  }
  return { app, clock, minute, minutesUntil, file, watcher, lines, text };
}

/** A clock that knows how many requests wait for an answer, by their time-outs. */
function requestClock() {
  const clock = manualClock();
  const waiting = new Set<object>();
  return {
    ...clock,
    waiting: () => waiting.size,
    after(ms: number, action: () => void) {
      if (ms <= 9_000 || ms > 10_000) return clock.after(ms, action);
      const request = {};
      waiting.add(request);
      const cancel = clock.after(ms, () => {
        waiting.delete(request);
        action();
      });
      return () => {
        waiting.delete(request);
        cancel();
      };
    },
  };
}

test("the URL is called each minute, from a minute after the start, while all is well", async () => {
  const { clock, minutesUntil, watcher, lines } = await beating(taken.newFolder());
  clock.advance(minuteMs - 1);
  expect(watcher.received).toEqual([]);
  clock.advance(1);
  await until(() => watcher.received.length === 1 && clock.waiting() === 0);
  await minutesUntil(() => watcher.received.length >= 3);
  const [{ method, path, search, body } = { method: "" }] = watcher.received;
  expect([method, path, search, body]).toEqual(["GET", "/notify/s3cret", "?rid=1", ""]);
  expect(lines()).toEqual([]);
});

type Break = (beside: Database, app: TestApp, folder: string) => Promise<() => void>;

/** A destination to which nothing can be claimed, with a delivery that waits. */
const stopDeliveries: Break = async (beside, app) => {
  const url = taken.gateway().url;
  await app.as("admin", "/v1/destinations", post({ name: "target", format: "json", url }));
  beside.run(
    "create trigger stuck before update of leased_until on deliveries begin select raise(abort, 'stuck'); end",
  );
  await app.deliverSample("task_tracker", "task.completed");
  return () => void beside.run("drop trigger stuck");
};

const lock: Break = async (beside) => {
  beside.run("begin immediate");
  return () => void beside.run("rollback");
};

const loseTable: Break = async (beside) => {
  beside.run("alter table replay_failures rename to gone");
  return () => void beside.run("alter table gone rename to replay_failures");
};

/** Commits still work. */
const fillDisk: Break = async (_, __, folder) => {
  const { bavail, bsize } = statfsSync(folder);
  const ballast = join(folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 300_000)));
  return () => rmSync(ballast);
};

test.each([
  ["the database is locked", lock, "The database cannot be written"],
  ["the notifier cannot claim", stopDeliveries, "nothing is sent to target"],
  ["retention fails", loseTable, "expired data was not deleted for minutes"],
  ...(skips(whyNoMount)
    ? []
    : [["the disk fills", fillDisk, "the disk of the database is nearly full"] as const]),
] as const)(
  "while %s, the URL is not called, and the log says why once",
  async (_, breakIt, why) => {
    const folder = breakIt === fillDisk ? mountedDisk(taken).folder : taken.newFolder();
    const { app, minute, minutesUntil, file, watcher, lines } = await beating(folder);
    await minute();
    using beside = openedBeside(file);
    const repair = await breakIt(beside, app, folder);
    await minutesUntil(() => lines().length > 0);
    const called = watcher.received.length;
    await minute();
    await minute();
    expect(lines()).toEqual([["heartbeat withheld", why]]);
    expect(watcher.received).toHaveLength(called);
    repair();
    await minutesUntil(() => watcher.received.length > called);
    await until(() => lines().at(-1)?.[0] === "heartbeat sent again");
  },
);

test("calls that fail are counted, logged once per change, and repeat no URL", async () => {
  const answers = [
    () => new Response(null, { status: 500 }),
    () => new Response(null, { status: 500 }),
    () => Response.redirect("/elsewhere", 302),
    never,
    () => new Response(),
  ];
  const { app, clock, minute, minutesUntil, watcher, lines, text } = await beating(
    taken.newFolder(),
    (number) => (answers[number - 1] ?? never)(),
  );
  await minutesUntil(() => watcher.received.length >= 3);
  clock.advance(minuteMs);
  await until(() => watcher.received.length === 4);
  clock.advance(10_000);
  await until(() => lines().length === 3);
  await minute();
  await until(() => lines().length === 4);
  expect(lines()).toEqual([
    ["heartbeat failed; retrying", "HTTP 500"],
    ["heartbeat failed; retrying", "HTTP 302"],
    ["heartbeat failed; retrying", "no answer within 10 s"],
    ["heartbeat sent again", undefined],
  ]);
  expect(await app.services.metrics.scrape()).toContain("skyhook_heartbeat_failures_total 4");
  expect(text()).not.toContain("s3cret");
  expect(watcher.received.map(({ path }) => path)).not.toContain("/elsewhere");
});

test("a destination that is paused, suspended or limited withholds nothing", async () => {
  const { app, minutesUntil, watcher, lines } = await beating(taken.newFolder());
  const target = taken.gateway();
  const failing = taken.gateway(() => new Response(null, { status: 500 }));
  for (const [name, url] of [
    ["paused", target.url],
    ["slow", target.url],
    ["failing", failing.url],
  ] as const) {
    const rate = name === "slow" ? { ratePerSecond: 1 } : {};
    const made = await app.as(
      "admin",
      "/v1/destinations",
      post({ name, format: "json", url, ...rate }),
    );
    const { id } = Object(await made.json());
    if (name === "paused")
      await app.as("admin", `/v1/destinations/${String(id)}/pause`, { method: "POST" });
  }
  await Promise.all(
    Array.from({ length: 30 }, () => app.deliverSample("task_tracker", "task.completed")),
  );
  await minutesUntil(() => watcher.received.length >= 12);
  expect(lines()).toEqual([]);
});
