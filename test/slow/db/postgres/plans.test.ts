import { describe, expect, test } from "bun:test";

import { SQL } from "bun";
import { sql } from "drizzle-orm";

import { openStorage } from "../../../../src/db/open.ts";
import { statementsOver, write } from "../../../../src/db/statement.ts";
import { eventsAt } from "../../../../src/event/events.sql.ts";
import {
  claimDue,
  notificationsToSend,
  type SettledDelivery,
  settleDeliveries,
} from "../../../../src/outbound/deliveries/delivery-queue.sql.ts";
import { insertDeliveries } from "../../../../src/outbound/model/deliveries.sql.ts";
import { deliveriesTable } from "../../../../src/outbound/model/delivery.ts";
import { notificationsTable } from "../../../../src/outbound/model/notification.ts";
import { insertNotification } from "../../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { failure } from "../../../support/failure.ts";
import { textOf } from "../../../support/plans.ts";
import { deliveryRow, notificationRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

import { limits, sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();

/**
 * The rows of two tables that the connection has read since it last reported them. It reports after a transaction, and
 * at most once a second: the count of one transaction is the difference between its end and its beginning.
 */
const read = statementsOver({ deliveries: deliveriesTable })()((db, { deliveries }) =>
  db
    .select({
      count:
        sql<number>`(select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables
        where relname in ('deliveries', 'notifications'))`.mapWith(Number),
    })
    .from(deliveries)
    .limit(1),
);

describe.skipIf(skips(noManyConnections))("postgres: plans", () => {
  test.each([0, 1_000])(
    "statements that were planned for %d rows that were never analyzed read no more of large tables than they need",
    async (earlier) => {
      await shared.empty();
      const storage = await openStorage(schema, shared.url, { ...limits, poolSize: 1 });
      // The server analyzes tables by itself, at a moment of its own.
      for (const table of ["deliveries", "notifications"])
        await shared.run(`alter table ${table} set (autovacuum_enabled = false)`);
      const now = new Date(Date.UTC(2027, 0, 1));
      const event = notificationRow(0).position.position;
      const lease = { destination: 1, leasedUntil: now, now, limit: 1 };
      const settled: SettledDelivery = {
        event,
        notification: event,
        destination: 1,
        leasedUntil: now,
        status: "delivered",
        attemptCount: 1,
        dueAt: null,
        startedAt: now,
        durationMs: 1,
        responseStatus: 200,
        deliveredAt: now,
        lastError: null,
        earlierAttempts: 0,
      };
      const store = async (from: number, to: number) => {
        const rows = Array.from({ length: to - from }, (_, index) => notificationRow(from + index));
        await storage.atomically(...rows.map((row) => write(insertNotification, row)));
        const deliveries = rows.map((row) => deliveryRow(row));
        await storage.atomically(write(insertDeliveries, { deliveries }));
      };
      const cycle = () =>
        storage.atomically(
          write(read, {}),
          write(claimDue, lease),
          write(settleDeliveries, { settled: [settled] }),
          write(read, {}),
        );
      await store(0, earlier);
      // The server keeps a plan from the sixth run on.
      for (let count = 0; count < 8; count += 1) await cycle();
      await store(earlier, 5_000);
      const results = await cycle();
      const [before, after] = [results.at(0), results.at(-1)].map((result) =>
        Number(Object(result?.rows[0]).count ?? 0),
      );
      const count = (after ?? 0) - (before ?? 0);
      expect(count).toBeGreaterThan(0);
      // A cycle reads some 10.
      expect(count).toBeLessThan(4_000);
      await storage.close();
    },
  );

  test.each([
    ["events_\\d+_pkey", eventsAt, { positions: [1] }],
    ["notifications_pkey", notificationsToSend, { positions: [1] }],
  ])(
    "what a claim reads is found by %s, even with a plan for empty tables",
    async (index, statement, values) => {
      await shared.empty();
      await using client = new SQL(shared.url, { max: 1 });
      await client.unsafe("select make_week(0)");
      const [text] = await textOf(client, statement, values);
      await client.unsafe("set plan_cache_mode = force_generic_plan");
      await client.unsafe(`prepare read as ${text}`);
      const plan = await client.unsafe("explain (costs off) execute read(array[1, 2])");
      const lines = plan.map((line: Record<string, string>) => line["QUERY PLAN"]).join("\n");
      expect(lines).toMatch(new RegExp(`Index Scan (using|on) ${index}`));
      expect(lines).not.toContain("Seq Scan");
    },
  );

  test("a search that takes too long says how to make it shorter", async () => {
    await shared.empty();
    // The tables are made without the limit, within which a busy server may not finish.
    await (await openStorage(schema, shared.url, limits)).close();
    const brief = { ...limits, statementTimeoutMs: 300 };
    const storage = await openStorage(schema, shared.url, brief);
    await storage.atomically(write(insertNotification, notificationRow(1)));
    const slow = statementsOver({ notifications: notificationsTable })()((db, { notifications }) =>
      db.select({ slept: sql`pg_sleep(5)::text` }).from(notifications),
    );
    expect(await failure(storage.all(slow, {}, "long"))).toMatchObject({
      code: "unavailable",
      detail: expect.stringContaining("Add a filter"),
    });
    expect(await failure(storage.all(slow, {}))).toMatchObject({
      code: "unavailable",
      detail: expect.stringContaining("try again"),
    });
    await storage.close();
  });
});
