import { heapStats } from "bun:jsc";
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";

import { AppError } from "../../../src/base/errors.ts";
import { noObserver, openStorage } from "../../../src/db/open.ts";
import { write } from "../../../src/db/statement.ts";
import type { Storage, StorageObserver } from "../../../src/db/storage.ts";
import { eventById } from "../../../src/event/event.sql.ts";
import { insertEvent, receiptAt } from "../../../src/event/events.sql.ts";
import { insertUser, userByEmail } from "../../../src/identity/users/users.sql.ts";
import { schema } from "../../../src/schema/schema.ts";
import { failure } from "../../support/failure.ts";
import { resources } from "../../support/resources.ts";
import { eventRow } from "../../support/rows.ts";

const { ends, newFile } = resources();

async function open(
  file: string,
  observer: Partial<StorageObserver> = {},
): Promise<{ readonly storage: Storage; readonly thread: Worker }> {
  const started = nextThread();
  const storage = await openStorage(schema, `sqlite:${file}`, undefined, {
    ...noObserver,
    ...observer,
  });
  ends.push(() => storage.close());
  return { storage, thread: await started };
}

/** The next thread that this process starts. */
function nextThread(): Promise<Worker> {
  return new Promise((resolve) => process.once("worker", resolve));
}

/** Takes the write lock on a connection of its own, which makes groups wait. */
function locked(file: string): Database {
  const other = new Database(file);
  ends.push(() => other.close());
  other.run("begin immediate");
  return other;
}

/** The reason for operators, which is in the log but in no response. */
const reasonOf = (error: unknown) =>
  error instanceof AppError && error.extras.cause instanceof Error
    ? error.extras.cause.message
    : null;

describe("while a group waits for the disk or a lock", () => {
  test("reads and the event loop go on, and see everything that was acknowledged", async () => {
    const file = newFile();
    const { storage } = await open(file);
    const [one, two] = [eventRow(1), eventRow(2)];
    await storage.atomically(write(insertEvent, one));
    const other = locked(file);
    let isOver = false;
    const waiting = storage.atomically(write(insertEvent, two)).then(() => (isOver = true));
    for (let turn = 0; turn < 100; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      expect(await storage.all(eventById, { id: one.id })).toHaveLength(1);
      expect(await storage.all(eventById, { id: two.id })).toEqual([]);
    }
    expect(isOver).toBe(false);
    other.run("rollback");
    await waiting;
    expect(await storage.all(eventById, { id: two.id })).toHaveLength(1);
  });

  test("transactions that arrive share the next group", async () => {
    const file = newFile();
    const groups: number[] = [];
    const { storage } = await open(file, { groupCommitted: (_, size) => groups.push(size) });
    const other = locked(file);
    const first = storage.atomically(write(insertEvent, eventRow(1)));
    const others: Promise<unknown>[] = [];
    for (const number of [2, 3, 4]) {
      // Groups start by `setImmediate` too: the first has started, however long a turn takes.
      await new Promise((resolve) => setImmediate(resolve));
      others.push(storage.atomically(write(insertEvent, eventRow(number))));
    }
    other.run("rollback");
    await Promise.all([first, ...others]);
    expect(groups).toEqual([1, 3]);
  });

  test("at most 256 MiB wait, then new transactions fail at once until it is over [DB-20]", async () => {
    const file = newFile();
    const { storage } = await open(file);
    await storage.atomically(write(insertEvent, eventRow(1)));
    const other = locked(file);
    const body = new Uint8Array(25 * 2 ** 20);
    // Changes no row: the event is there already.
    const deliver = () => storage.atomically(write(insertEvent, eventRow(1, { body })));
    const waiting = Array.from({ length: 11 }, deliver);
    expect(await failure(deliver())).toMatchObject({
      code: "unavailable",
      detail: "Too many transactions are waiting",
      extras: { retryAfterSeconds: 5 },
    });
    other.run("rollback");
    expect((await Promise.all(waiting)).map(([{ changes }]) => changes)).toEqual(
      waiting.map(() => 0),
    );
    expect((await deliver())[0].changes).toBe(0);
  });
});

test("commits leave nothing in memory", async () => {
  const { storage } = await open(newFile());
  const commit = async (from: number) => {
    for (let n = from; n < from + 300; n += 1)
      await storage.atomically(write(insertEvent, eventRow(n)));
    Bun.gc(true);
    return heapStats().objectTypeCounts["Promise"] ?? 0;
  };
  await commit(0);
  const before = await commit(300);
  expect((await commit(600)) - before).toBeLessThan(100);
});

describe("a storage thread that dies", () => {
  /** Messages are handled in order, so what follows this one finds a dead thread. */
  const kill = (thread: Worker) => thread.postMessage(null);

  test("fails its group with `unavailable`; the next group has a new thread [DB-21]", async () => {
    const file = newFile();
    const warnings: string[] = [];
    const { storage, thread } = await open(file, { warning: (line) => warnings.push(line) });
    await storage.atomically(write(insertEvent, eventRow(1)));
    const another = nextThread();
    kill(thread);
    const lost = await failure(storage.atomically(write(insertEvent, eventRow(2))));
    expect(lost).toMatchObject({ code: "unavailable" });
    expect(reasonOf(lost)).toContain("The storage thread ended");
    expect(warnings).toEqual([expect.stringContaining("the storage thread ended")]);
    // It knows no statement of the one before.
    const [inserted] = await storage.atomically(write(insertEvent, eventRow(3)));
    expect(inserted.changes).toBe(1);
    expect(await another).not.toBe(thread);
  });

  test("keeps the file consistent and unlocked, and close ends", async () => {
    const file = newFile();
    const { storage, thread } = await open(file);
    await storage.atomically(write(insertEvent, eventRow(1)));
    kill(thread);
    await storage.close();
    using other = new Database(file);
    other.run("begin exclusive");
    expect(other.query("pragma integrity_check").values()).toEqual([["ok"]]);
    expect(other.query("select count(*) from events").values()).toEqual([[1]]);
  });
});

test("an error of a statement has SQLite's code, in memory and on disk", async () => {
  for (const url of ["sqlite::memory:", `sqlite:${newFile()}`]) {
    const storage = await openStorage(schema, url);
    ends.push(() => storage.close());
    const broken = eventRow(1, { title: null as unknown as string });
    expect(await failure(storage.atomically(write(insertEvent, broken)))).toMatchObject({
      code: "SQLITE_CONSTRAINT_NOTNULL",
      message: "NOT NULL constraint failed: events.title",
    });
    const unstorable = eventRow(1, { title: (() => "a function") as unknown as string });
    const [refused, stored] = await Promise.allSettled([
      storage.atomically(write(insertEvent, unstorable)),
      storage.atomically(write(insertEvent, eventRow(2))),
    ]);
    expect([refused.status, stored.status]).toEqual(["rejected", "fulfilled"]);
  }
});

test("a body of 25 MiB is stored unchanged, and stays usable for its caller", async () => {
  const { storage } = await open(newFile());
  const body = new Uint8Array(25 * 2 ** 20).map((_, index) => index * 31);
  const small = new Uint8Array([9, 8, 7, 6]);
  await Promise.all([
    storage.atomically(write(insertEvent, eventRow(1, { body }))),
    // A part of a larger buffer: only the part is stored.
    storage.atomically(write(insertEvent, eventRow(2, { body: small.subarray(1, 3) }))),
  ]);
  const [large] = await storage.all(receiptAt, eventRow(1).place);
  expect(Buffer.compare(large?.body ?? new Uint8Array(), body)).toBe(0);
  const [part] = await storage.all(receiptAt, eventRow(2).place);
  expect([...(part?.body ?? [])]).toEqual([8, 7]);
  expect([body.length, small.length]).toEqual([25 * 2 ** 20, 4]);
});

test("a transaction of 20,000 statements is one transaction", async () => {
  const { storage } = await open(newFile());
  const user = (number: number) => ({
    id: `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`,
    name: `User ${number}`,
    email: `user${number}@example.com`,
    createdAt: new Date(0),
  });
  const inserts = Array.from({ length: 20_000 }, (_, number) => write(insertUser, user(number)));
  const taken = new AppError("email-taken", "taken");
  const again = { ...user(20_000), email: "user7@example.com" };
  expect(await failure(storage.atomically(...inserts, write(insertUser, again, taken)))).toBe(
    taken,
  );
  expect(await storage.all(userByEmail, { email: "user7@example.com" })).toEqual([]);
  const results = await storage.atomically(...inserts);
  expect(results.every(({ changes }) => changes === 1)).toBe(true);
});
