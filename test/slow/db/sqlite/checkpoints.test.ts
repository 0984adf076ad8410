import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { sql } from "drizzle-orm";

import { openStorage } from "../../../../src/db/open.ts";
import { statementsOver, write } from "../../../../src/db/statement.ts";
import { eventsTable } from "../../../../src/event/event.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { removeFolder, temporaryFolder } from "../../../support/program.ts";
import { eventRow } from "../../../support/rows.ts";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

const megabyte = 2 ** 20;
const events = 400;
/** Cannot be compressed. */
const body = randomBytes(megabyte / 2);

/** Takes tens of milliseconds. */
const slowly = statementsOver({ stored: eventsTable })()((db, { stored }) =>
  db
    .select({ position: stored.position })
    .from(stored)
    .where(
      sql`(with recursive n(n) as (select 1 union all select n + 1 from n where n < 200000) select count(*) from n) < 0`,
    ),
);

test.each([
  // The log starts again where its length exceeds 64 MiB, after the commits under way.
  ["its thread checkpoints", 80, 2, () => {}, 0],
  // What the storage thread does without it.
  ["its thread dies at once", 140, 10, (thread: Worker) => thread.terminate(), 0],
  // It starts again in the gap after one.
  ["long reads follow each other", 180, 3, () => {}, 3],
] as const)(
  "under steady load the log stays bounded while %s",
  async (name, maxMegabytes, mostThreads, onThread, readers) => {
    const threads: Worker[] = [];
    const onWorker = (worker: Worker) => {
      if (threads.push(worker) > 1) onThread(worker);
    };
    process.on("worker", onWorker);
    const file = join(folder, `${name}.db`);
    const storage = await openStorage(schema, `sqlite:${file}`);
    let longest = 0;
    let number = 0;
    const client = async () => {
      while ((number += 1) <= events) {
        await storage.atomically(write(insertEvent, eventRow(number, { body })));
        longest = Math.max(longest, statSync(`${file}-wal`).size);
      }
    };
    const reader = async () => {
      while (number <= events) await storage.all(slowly, {}, "long");
    };
    await Promise.all([client(), client(), client(), ...Array.from({ length: readers }, reader)]);
    process.off("worker", onWorker);
    expect(longest / megabyte).toBeGreaterThan(60);
    expect(longest / megabyte).toBeLessThan(maxMegabytes);
    expect(threads.length).toBeGreaterThan(1);
    expect(threads.length).toBeLessThanOrEqual(mostThreads);
    await storage.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
    using written = new Database(file, { readonly: true });
    expect(written.query("pragma integrity_check").values()).toEqual([["ok"]]);
    expect(written.query("select count(*) from events").values()).toEqual([[events]]);
  },
  30_000,
);
