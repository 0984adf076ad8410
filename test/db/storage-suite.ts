import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import fc from "fast-check";

import { decodeCursor } from "../../src/base/cursor.ts";
import { AppError } from "../../src/base/errors.ts";
import type { Page, Position } from "../../src/base/page.ts";
import { flightById, giveSeatsBack, insertFlight } from "../../src/booking/flights/flights.sql.ts";
import { insertPassenger } from "../../src/booking/model/bookings.sql.ts";
import { sealedByEachKey } from "../../src/booking/personal-data/personal-data.sql.ts";
import { giveHeldBack, insertHold } from "../../src/booking/seats/seat-holds.sql.ts";
import { paginate, type Source } from "../../src/db/paginate.ts";
import { write } from "../../src/db/statement.ts";
import type { Storage } from "../../src/db/storage.ts";
import { eventById } from "../../src/event/event.sql.ts";
import {
  countDuplicate,
  firstWithHash,
  firstWithKey,
  insertEvent,
  lastEventOf,
  receiptAt,
  reinterpretEvent,
} from "../../src/event/events.sql.ts";
import { eventPages } from "../../src/events/event-search.sql.ts";
import { insertUser, userByEmail } from "../../src/identity/users/users.sql.ts";
import { insertRejection, rejectionPages } from "../../src/inbound/rejections/rejections.sql.ts";
import {
  insertNotification,
  newestNotification,
} from "../../src/outbound/model/notifications.sql.ts";
import { statisticsTests } from "../operations/statistics/statistics-suite.ts";
import { deliveryTests } from "../outbound/deliveries/delivery-suite.ts";
import { failure } from "../support/failure.ts";
import { eventRow, flightRow, notificationRow, rejectionRow } from "../support/rows.ts";
import { forAllAsync, runs } from "../support/runs.ts";

const at = (ms: number) => new Date(Date.UTC(2026, 10, 21) + ms);
const user = (number: number, email = `user${number}@example.com`) => ({
  id: `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`,
  name: `User ${number}`,
  email,
  createdAt: at(number),
});

/** The behaviour of every dialect. `open` returns an empty database; `walks`: random lists to paginate. */
export function storageSuite(dialect: string, open: () => Promise<Storage>, walks = 60): void {
  describe(dialect, () => {
    // In a group of its own, which closes only what its own tests open.
    describe("rows", () => tests(open, walks));
    deliveryTests(open);
    statisticsTests(open);
  });
}

function tests(open: () => Promise<Storage>, walks: number): void {
  let storage: Storage;
  beforeEach(async () => {
    storage = await open();
  });
  afterEach(() => storage.close());

  const count = () => eventPages(storage, {}).count();

  describe("transactions", () => {
    test("store and return rows unchanged, including nulls, times, bytes and JSON", async () => {
      const row = eventRow(1, { body: Buffer.from([0, 255, 128]), url: "https://example.com/" });
      await storage.atomically(write(insertEvent, row));
      const [event] = await storage.all(eventById, { id: row.id });
      const [arrival] = await storage.all(receiptAt, row.place);
      const { bodyHash: _, place: __, ...expected } = row;
      expect({ ...event, ...arrival }).toEqual({ ...expected, bodyOf: null });
      const own = eventRow(2, { headers: null, address: null, signedWith: null, body: null });
      await storage.atomically(write(insertEvent, own));
      const [nothing] = await storage.all(receiptAt, own.place);
      expect(nothing).toMatchObject({ headers: null, address: null, signedWith: null, body: null });
    });

    test("are rolled back alone when a statement changes no row with an error in `onNoRows`", async () => {
      const clash = storage.atomically(
        write(insertEvent, eventRow(1)),
        write(insertUser, user(1)),
        write(insertUser, user(2, "USER1@example.com"), new AppError("bad-request", "taken")),
      );
      const others = [2, 3, 4].map((n) => storage.atomically(write(insertEvent, eventRow(n))));
      const outcomes = await Promise.allSettled([clash, ...others]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        "rejected",
        "fulfilled",
        "fulfilled",
        "fulfilled",
      ]);
      expect(await failure(clash)).toMatchObject({ code: "bad-request" });
      expect(await count()).toBe(3);
      expect(await storage.all(userByEmail, { email: "user1@example.com" })).toEqual([]);
    });

    test("are rolled back alone when a constraint fails, at any position in the group", async () => {
      const broken = eventRow(9, { title: null as unknown as string });
      const transactions = [
        storage.atomically(write(insertEvent, eventRow(1))),
        storage.atomically(write(insertEvent, eventRow(2)), write(insertEvent, broken)),
        storage.atomically(write(insertEvent, broken), write(insertEvent, eventRow(3))),
        storage.atomically(write(insertEvent, eventRow(4))),
      ];
      const outcomes = await Promise.allSettled(transactions);
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "rejected",
        "fulfilled",
      ]);
      expect(await count()).toBe(2);
    });

    test("are rolled back alone when a value cannot be bound", async () => {
      const { title: _, ...untitled } = notificationRow(1);
      const transactions = [
        storage.atomically(
          write(insertEvent, eventRow(1), "stop"),
          write(insertNotification, untitled as ReturnType<typeof notificationRow>),
        ),
        storage.atomically(write(insertEvent, eventRow(2))),
      ];
      const outcomes = await Promise.allSettled(transactions);
      expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
      expect(await count()).toBe(1);
    });

    test("skip the remaining statements and commit when a statement with `stop` changes no row", async () => {
      await storage.atomically(write(insertEvent, eventRow(1)));
      const [user1, again, note] = await storage.atomically(
        write(insertUser, user(1)),
        write(insertEvent, eventRow(1), "stop"),
        write(insertNotification, notificationRow(1)),
      );
      expect([user1.changes, again.changes, note.changes]).toEqual([1, 0, 0]);
      expect(await storage.all(userByEmail, { email: "user1@example.com" })).toHaveLength(1);
      expect((await storage.all(newestNotification, {}))[0]?.position ?? 0).toBe(0);
    });

    test("are visible to readers completely or not at all", async () => {
      const written = storage.atomically(
        write(insertEvent, eventRow(1)),
        write(insertEvent, eventRow(2)),
      );
      const seen: number[] = [];
      let done = false;
      void written.then(() => (done = true));
      while (!done) {
        seen.push(await count());
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(seen.every((n) => n === 0 || n === 2)).toBe(true);
      expect(await count()).toBe(2);
    });

    test("are all stored, each with its own result, when many start in one turn", async () => {
      const results = await Promise.all(
        Array.from({ length: 1_500 }, (_, n) =>
          storage.atomically(write(insertEvent, eventRow(n % 1_000))),
        ),
      );
      expect(results.filter(([{ changes }]) => changes === 1)).toHaveLength(1_000);
      expect(await count()).toBe(1_000);
    });

    test("are committed by close if they wait, and fail if they come later", async () => {
      const waiting = storage.atomically(write(insertEvent, eventRow(1)));
      await storage.close();
      expect((await waiting)[0].changes).toBe(1);
      expect(await failure(storage.atomically(write(insertEvent, eventRow(2))))).toMatchObject({
        code: "unavailable",
      });
    });
  });

  test("seats left are never fewer than none or more than there are, whatever a statement says", async () => {
    await storage.atomically(write(insertFlight, flightRow(1)));
    const left = async () => {
      const [flight] = await storage.all(flightById, { id: 1 });
      return flight?.seatsAvailable;
    };
    expect(await left()).toBe(100);
    const held = { bookingId: "bk_1", purpose: "booking", flightId: 1, seats: 1 } as const;
    const notTaken = { ...held, userId: "ada", expiresAt: new Date(0) };
    for (const writes of [
      [write(insertHold, notTaken), write(giveHeldBack, held)],
      [write(giveSeatsBack, { id: 1, seats: -101, revision: 0 })],
    ]) {
      const [outcome] = await Promise.allSettled([storage.atomically(...writes)]);
      expect([outcome.status, await left()]).toEqual(["rejected", 100]);
    }
  });

  describe("events", () => {
    test("are stored once per key, and once per provider and body if the body hash is set", async () => {
      const hash = Buffer.alloc(16, 7);
      const rows = [
        eventRow(1, { bodyHash: hash }),
        eventRow(2, { idempotencyKey: "task_tracker:1" }),
        eventRow(3, { bodyHash: hash }),
        eventRow(4, { bodyHash: hash, provider: "code_host" }),
        eventRow(5),
        eventRow(6),
      ];
      const changes: number[] = [];
      for (const row of rows) {
        const [inserted] = await storage.atomically(write(insertEvent, row));
        changes.push(inserted.changes);
      }
      expect(changes).toEqual([1, 0, 0, 1, 1, 1]);
      const withHash = (bodyHash: Buffer) =>
        storage.all(firstWithHash, { provider: "task_tracker", bodyHash });
      const withKey = (idempotencyKey: string) => storage.all(firstWithKey, { idempotencyKey });
      expect(await withHash(hash)).toMatchObject([{ id: rows[0]?.id }]);
      expect(await withHash(Buffer.alloc(16, 8))).toEqual([]);
      // With a body hash, an unsigned delivery id alone does not make a duplicate.
      expect(await withKey("task_tracker:1")).toEqual([]);
      expect(await withKey("task_tracker:5")).toMatchObject([{ id: rows[4]?.id }]);
      expect(await withKey("none")).toEqual([]);
    });

    test("count their duplicates and can be interpreted again", async () => {
      const row = eventRow(1, { status: "ignored" });
      await storage.atomically(write(insertEvent, row));
      await storage.atomically(
        write(countDuplicate, { id: row.id }),
        write(reinterpretEvent, { ...row, status: "accepted", title: "New", data: { a: 1 } }),
      );
      expect((await storage.all(receiptAt, row.place))[0]?.duplicates).toBe(1);
      expect(await storage.all(eventById, { id: row.id })).toMatchObject([
        { status: "accepted", title: "New", data: { a: 1 } },
      ]);
      expect(await storage.all(lastEventOf, { provider: "task_tracker" })).toHaveLength(1);
    });
  });

  test("finds a sealed passenger for each encryption key", async () => {
    const place = (booking: number) =>
      ({ bookingId: `bk_${String(booking).padStart(32, "0")}`, position: 1 }) as const;
    const person = {
      firstName: "Ada",
      lastName: "Lovelace",
      lastNameFolded: null,
      cancelledAt: null,
      corrections: 0,
      email: "ada@example.com",
    };
    const sealed = (key: number, value: number) => Buffer.from([key, 0, 0, 0, value]);
    const values = [sealed(1, 9), sealed(1, 8), sealed(2, 9), sealed(1, 7)];
    for (const [n, value] of values.entries()) {
      const row = { ...place(n), ...person, sealed: value };
      await storage.atomically(write(insertPassenger, row));
    }
    expect(await storage.all(sealedByEachKey, {})).toEqual([
      { ...place(0), sealed: sealed(1, 9) },
      { ...place(2), sealed: sealed(2, 9) },
    ]);
  });

  describe("pages", () => {
    const ids = (page: Page<{ id: string }>) => page.data.map(({ id }) => id);
    const positionOf = (cursor: string | null, prefix = "evt_") =>
      cursor === null ? null : decodeCursor(cursor, prefix);

    /** Walks from one end to the other; `between` runs before each page after the first. */
    async function walk(
      direction: "forward" | "backward",
      limit: number,
      between: () => Promise<void>,
      source: Source<{ readonly createdAt: Date; readonly id: string }> = eventPages(storage, {}),
      prefix?: string,
    ): Promise<string[]> {
      const seen: string[][] = [];
      let cursor: Position | null = null;
      for (;;) {
        const page: Page<{ id: string }> = await paginate(source, {
          limit,
          withTotal: false,
          direction,
          cursor,
        });
        seen.push(ids(page));
        if (!page.pagination.hasMore) break;
        const { nextCursor, prevCursor } = page.pagination;
        cursor = positionOf(direction === "forward" ? nextCursor : prevCursor, prefix);
        await between();
      }
      return direction === "forward" ? seen.flat() : seen.toReversed().flat();
    }

    test("of any size and direction, with equal times and inserts between, form the sorted list", async () => {
      const scenario = fc.record({
        times: fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 40 }),
        limit: fc.integer({ min: 1, max: 12 }),
        direction: fc.constantFrom("forward" as const, "backward" as const),
      });
      await forAllAsync(runs(walks), [scenario], async ({ times, limit, direction }) => {
        await storage.close();
        storage = await open();
        let made = 0;
        const insert = async (createdAt: Date) => {
          const row = eventRow((made * 7_919) % 10_007, { createdAt });
          made += 1;
          await storage.atomically(write(insertEvent, row));
          return row.id;
        };
        const rows: string[] = [];
        for (const time of times) rows.push(await insert(at(time)));
        // New items are added at the newest end, which a forward walk has already passed.
        const newer = async () => {
          if (direction === "forward") await insert(at(1_000 + made));
        };
        expect(await walk(direction, limit, newer)).toEqual(rows.toReversed());
      });
    });

    test("after a cursor without an id start strictly before its time, forward only", async () => {
      const rows = [3, 4, 5, 5].map((time, n) => eventRow(n, { createdAt: at(time) }));
      for (const row of rows) await storage.atomically(write(insertEvent, row));
      const cursor = { createdAt: at(5), id: null };
      const request = { limit: 10, withTotal: false, cursor };
      const page = await paginate(eventPages(storage, {}), { ...request, direction: "forward" });
      expect(ids(page)).toEqual([1, 0].map((n) => String(rows[n]?.id)));
      expect(
        await failure(paginate(eventPages(storage, {}), { ...request, direction: "backward" })),
      ).toMatchObject({
        code: "invalid-cursor",
        extras: { errors: [{ parameter: "cursor", code: "invalid-cursor" }] },
      });
    });

    test("of a list by time have each item of one millisecond once, in the order of ids", async () => {
      const rows = [3, 1, 5, 2, 4].map((number) => rejectionRow(number, { createdAt: at(0) }));
      for (const row of rows) await storage.atomically(write(insertRejection, row));
      const expected = rows
        .map(({ id }): string => id)
        .toSorted()
        .toReversed();
      for (const direction of ["forward", "backward"] as const) {
        const source = rejectionPages(storage, {});
        expect(await walk(direction, 2, async () => {}, source, "rej_")).toEqual(expected);
      }
    });

    test("have more only if an item follows, also when they are full", async () => {
      for (const n of [1, 2, 3, 4]) await storage.atomically(write(insertEvent, eventRow(n)));
      for (const direction of ["forward", "backward"] as const) {
        const hasMore = async (limit: number) => {
          const request = { limit, withTotal: false, direction, cursor: null };
          return (await paginate(eventPages(storage, {}), request)).pagination.hasMore;
        };
        for (const limit of [3, 4, 5]) expect(await hasMore(limit)).toBe(limit < 4);
      }
    });

    test("by number return the same list, with the total on request", async () => {
      const rows = [0, 1, 2, 3, 4, 5, 6].map((n) => eventRow(n));
      for (const row of rows) await storage.atomically(write(insertEvent, row));
      const source = eventPages(storage, {});
      const page = await paginate(source, { limit: 3, withTotal: true, page: 3 });
      expect(ids(page)).toEqual([String(rows[0]?.id)]);
      expect(page.pagination).toMatchObject({ hasMore: false, total: 7 });
      const beyond = await paginate(source, { limit: 3, withTotal: false, page: 4 });
      expect(beyond).toEqual({
        data: [],
        pagination: { hasMore: false, nextCursor: null, prevCursor: null },
      });
    });

    test("can be filtered by any combination of provider, type and status", async () => {
      const kinds = [
        { provider: "a", type: "x", status: "accepted" },
        { provider: "a", type: "y", status: "ignored" },
        { provider: "b", type: "x", status: "unreadable" },
        { provider: "b", type: "y", status: "accepted" },
      ] as const;
      for (const [n, kind] of kinds.entries()) {
        await storage.atomically(write(insertEvent, eventRow(n, kind)));
      }
      const found = async (filters: Parameters<typeof eventPages>[1]) => {
        const request = { limit: 10, withTotal: true, direction: "forward", cursor: null } as const;
        const page = await paginate(eventPages(storage, filters), request);
        expect(page.pagination.total).toBe(page.data.length);
        return page.data.map(({ data }) => Number(data["number"])).toSorted((a, b) => a - b);
      };
      for (const provider of ["a", "b", "c", undefined]) {
        for (const type of ["x", "y", "'", undefined]) {
          for (const status of ["accepted", "ignored", "unreadable", undefined] as const) {
            const expected = [...kinds.entries()].filter(
              ([, kind]) =>
                (provider ?? kind.provider) === kind.provider &&
                (type ?? kind.type) === kind.type &&
                (status ?? kind.status) === kind.status,
            );
            expect(await found({ provider, type, status })).toEqual(expected.map(([n]) => n));
          }
        }
      }
    });
  });
}
