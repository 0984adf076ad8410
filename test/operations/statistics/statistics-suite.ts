import { afterEach, beforeEach, describe, expect, test } from "bun:test";

import {
  departuresBetween,
  insertFlight,
  loadBetween,
} from "../../../src/booking/flights/flights.sql.ts";
import { write } from "../../../src/db/statement.ts";
import type { Storage } from "../../../src/db/storage.ts";
import { eventsByKeys, insertEvent } from "../../../src/event/events.sql.ts";
import type { WebhookCount } from "../../../src/inbound/model/webhook-count.ts";
import {
  activeHours,
  addCounts,
  countsBySteps,
  deleteOldCounts,
  recordSecretUse,
  secretUsesOf,
} from "../../../src/inbound/model/webhook-counts.sql.ts";
import { eventRow } from "../../support/rows.ts";

/** Conformance tests for the operators' queries in every SQL dialect. `open` returns a new, empty database. */
export function statisticsTests(open: () => Promise<Storage>): void {
  let storage: Storage;

  const add = (...counts: Partial<WebhookCount>[]) =>
    storage.atomically(
      ...counts.map((count) =>
        write(addCounts, {
          spanMinutes: 1,
          provider: "a",
          minute: 0,
          verdict: "accepted",
          deliveries: 1,
          ...count,
        }),
      ),
    );
  const steps = (from: number, to: number, stepMinutes = 1) =>
    storage.all(countsBySteps, { spanMinutes: 1, from, to, stepMinutes });

  describe("statistics", () => {
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(() => storage.close());

    test("adds counts of the same time, provider and verdict, and keeps others apart", async () => {
      await add({ deliveries: 2 }, { deliveries: 3 }, { verdict: "rejected" }, { provider: "b" });
      await add({ deliveries: 4 }, { spanMinutes: 60, deliveries: 100 });
      const found = await steps(0, 1);
      expect(found).toHaveLength(3);
      for (const row of [
        { step: 0, provider: "a", verdict: "accepted", deliveries: 9 },
        { step: 0, provider: "a", verdict: "rejected", deliveries: 1 },
        { step: 0, provider: "b", verdict: "accepted", deliveries: 1 },
      ] as const) {
        expect(found).toContainEqual(row);
      }
    });

    test("groups counts into steps from the first minute, excluding the last", async () => {
      const minute = 29_000_000;
      for (const after of [-1, 0, 4, 5, 9, 10]) await add({ minute: minute + after });
      const found = await steps(minute, minute + 10, 5);
      expect(found.map((row) => [row.step, row.deliveries])).toEqual([
        [0, 2],
        [1, 2],
      ]);
    });

    test("returns the hours with verified deliveries, newest first", async () => {
      await add(
        ...[60, 120, 180].map((minute) => ({ spanMinutes: 60 as const, minute })),
        { spanMinutes: 60, minute: 120, verdict: "ignored", deliveries: 5 },
        { spanMinutes: 60, minute: 240, verdict: "limited" },
        { spanMinutes: 60, minute: 300, provider: "b" },
        { spanMinutes: 1, minute: 360 },
      );
      expect(await storage.all(activeHours, { provider: "a", limit: 2 })).toEqual([
        { minute: 180, deliveries: 1 },
        { minute: 120, deliveries: 6 },
      ]);
    });

    test("deletes old counts in batches", async () => {
      for (let minute = 0; minute < 5; minute += 1) await add({ minute });
      await add({ spanMinutes: 60 });
      const batch = write(deleteOldCounts, { spanMinutes: 1, before: 4, limit: 3 });
      const changes = async () => (await storage.atomically(batch))[0].changes;
      expect([await changes(), await changes(), await changes()]).toEqual([3, 1, 0]);
      expect(await steps(0, 9)).toHaveLength(1);
      expect(await storage.all(activeHours, { provider: "a", limit: 9 })).toHaveLength(1);
    });

    test("keeps the first and the latest use of a secret, in any order of writes", async () => {
      const use = (ms: number, secret = "x") => ({
        provider: "a",
        secret,
        firstMatchedAt: new Date(ms),
        lastMatchedAt: new Date(ms),
      });
      for (const ms of [1_000, 3_000, 2_000]) {
        await storage.atomically(write(recordSecretUse, use(ms)));
      }
      await storage.atomically(write(recordSecretUse, { ...use(5_000), provider: "b" }));
      await storage.atomically(write(recordSecretUse, use(4_000, "y")));
      const found = await storage.all(secretUsesOf, { provider: "a" });
      expect(found).toHaveLength(2);
      expect(found).toContainEqual({ ...use(1_000), lastMatchedAt: new Date(3_000) });
      expect(found).toContainEqual(use(4_000, "y"));
    });

    test("finds events by their idempotency keys", async () => {
      for (const n of [1, 2, 3]) await storage.atomically(write(insertEvent, eventRow(n)));
      const keys = ["task_tracker:2", "task_tracker:3", "task_tracker:4"];
      const found = await storage.all(eventsByKeys, { keys });
      expect(new Set(found.map(({ id }) => id))).toEqual(new Set([eventRow(2).id, eventRow(3).id]));
    });

    test("returns the load of flights departing in a span, excluding its end", async () => {
      const any = { flight: null, origin: null, destination: null };
      const span = { from: new Date(10_000), until: new Date(20_000), ...any };
      const departs = (ms: number, flightNumber: string) =>
        write(insertFlight, {
          flightNumber,
          airline: "A",
          origin: "JFK",
          destination: "LHR",
          departureTime: new Date(ms),
          arrivalTime: new Date(ms + 1),
          cabinClass: "economy",
          seats: 10,
          priceMinor: 1,
          currency: "USD",
          createdAt: new Date(0),
        });
      expect(await storage.all(loadBetween, span)).toEqual([{ departures: 0, seats: 0, sold: 0 }]);
      for (const [ms, name] of [
        [9_999, "A"],
        [19_999, "B"],
        [10_000, "C"],
        [20_000, "D"],
      ] as const) {
        await storage.atomically(departs(ms, name));
      }
      expect(await storage.all(loadBetween, span)).toEqual([{ departures: 2, seats: 20, sold: 0 }]);
      const found = await storage.all(departuresBetween, { ...span, limit: 9 });
      expect(found.map(({ flightNumber, sold }) => [flightNumber, sold])).toEqual([
        ["C", 0],
        ["B", 0],
      ]);
      expect(await storage.all(departuresBetween, { ...span, limit: 1 })).toHaveLength(1);
    });
  });
}
