import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { firstPositionAt } from "../../src/base/ids.ts";
import { rowsPerSlice } from "../../src/db/in-turn.ts";
import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { indexEvents } from "../../src/events/index-batch.ts";
import { json, type TestApp } from "../support/app.ts";
import { eventRow, notificationRow, sentWrites } from "../support/rows.ts";
import { serveApp, type ServedApp } from "../support/served-app.ts";
import { areCounted, watchReads } from "../support/watched-reads.ts";

const events = rowsPerSlice * 2 + 100;
const numbers = Array.from({ length: events }, (_, number) => number);
/** Seven events of each millisecond, so that slices also end within one. */
const timeOf = (number: number) => new Date(Date.UTC(2026, 10, 21) + Math.floor(number / 7));

const rowOf = (number: number) =>
  eventRow(number, {
    createdAt: timeOf(number),
    provider: number % 3 === 0 ? "code_host" : "task_tracker",
    type: number % 5 === 0 ? "task.started" : "task.completed",
    status: number % 11 === 0 ? "ignored" : "accepted",
    title: `build failed ${number % 2 === 0 ? "even" : "odd"} prefix${number % 4}`,
  });

/** Every seventh event begins a new millisecond. */
const positionOf = (number: number) => firstPositionAt(timeOf(number).getTime()) + (number % 7);

async function fill({ services: { storage } }: TestApp): Promise<void> {
  await storage.atomically(
    ...numbers.map((number) => write(insertEvent, rowOf(number))),
    ...numbers
      .filter((number) => number % 2 === 0)
      .flatMap((number) =>
        sentWrites(notificationRow(number, { event: positionOf(number) }), { dueAt: null }),
      ),
  );
  while ((await indexEvents(storage)).hasMore);
}

const from = timeOf(700).toISOString();
const to = timeOf(3_500).toISOString();

describe("the total of a long list", () => {
  let served: ServedApp;
  beforeAll(async () => {
    served = await serveApp();
    await fill(served.app);
  });
  afterAll(() => served.stop());

  const totalOf = async (query: string): Promise<unknown> => {
    const page = await json(
      await served.app.as("operator", `/v1/events?limit=1&include=total&${query}`),
    );
    return Object(page["pagination"]).total;
  };

  test.each<[string, (number: number) => boolean]>([
    ["", () => true],
    ["provider=code_host", (n) => n % 3 === 0],
    ["type=task.started", (n) => n % 5 === 0],
    ["type=task.*", () => true],
    ["provider=code_host&type=task.started", (n) => n % 15 === 0],
    ["status=ignored", (n) => n % 11 === 0],
    ["status=accepted", (n) => n % 11 !== 0],
    ["idempotencyKey=task_tracker:3", (n) => n === 3],
    ["delivery=none", (n) => n % 2 === 1],
    ["delivery=pending&provider=code_host", (n) => n % 6 === 0],
    ["q=build", () => true],
    ["q=odd", (n) => n % 2 === 1],
    ['q="failed+even"', (n) => n % 2 === 0],
    ["q=prefi*", () => true],
    ["q=build&delivery=none", (n) => n % 2 === 1],
    ["q=build&provider=code_host", (n) => n % 3 === 0],
    ["q=absent", () => false],
    [`from=${from}`, (n) => n >= 700],
    [`from=${from}&to=${to}`, (n) => n >= 700 && n < 3_500],
    [`q=build&from=${from}&to=${to}`, (n) => n >= 700 && n < 3_500],
    [`q=even&to=${to}&type=task.started`, (n) => n < 3_500 && n % 10 === 0],
  ])("is exact for %p", async (query, isFound) => {
    expect([query, await totalOf(query)]).toEqual([query, numbers.filter(isFound).length]);
  });
});

describe("while a long list is counted on SQLite", () => {
  let served: ServedApp;
  beforeAll(async () => {
    served = await serveApp({ DATABASE_URL: "sqlite::memory:" });
    await fill(served.app);
  });
  afterAll(() => served.stop());

  test.each(["", "delivery=pending"])(
    "/livez answers before the count of %p ends",
    async (query) => {
      const counting = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      let counted = 0;
      // Holds the count after its first slice, until /livez has answered.
      const end = watchReads(served.app.services.storage, async (_, rows) => {
        if (!areCounted(rows)) return;
        counted += 1;
        counting.resolve();
        await answered.promise;
      });
      try {
        const page = served.app.as("operator", `/v1/events?limit=1&include=total&${query}`);
        await counting.promise;
        expect((await fetch(`${served.url}/livez`)).status).toBe(200);
        answered.resolve();
        await page;
        expect(counted).toBeGreaterThan(1);
      } finally {
        end();
      }
    },
  );
});
