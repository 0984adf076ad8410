import { describe, expect, test } from "bun:test";

import { asc } from "drizzle-orm";

import { statementsOver, write } from "../../../src/db/statement.ts";
import {
  claimDue,
  claimFirst,
  destinationsDue,
  nextDue,
  takeProbe,
} from "../../../src/outbound/deliveries/delivery-queue.sql.ts";
import { waitingBefore } from "../../../src/outbound/deliveries/retry-all.sql.ts";
import { orphanedDestinations } from "../../../src/outbound/model/deliveries.sql.ts";
import { reorder } from "../../../src/outbound/model/delivery-order.sql.ts";
import { deliveriesTable } from "../../../src/outbound/model/delivery.ts";
import { until } from "../../support/app.ts";
import { noManyConnections } from "../../support/databases.ts";
import { gatewayDestination } from "../../support/destination.ts";
import { untilLater, waits } from "../../support/notifying.ts";
import { listed } from "../../support/operator.ts";
import { filledPostgres, mostRejected, planOnSqlite } from "../../support/plans.ts";
import { resources } from "../../support/resources.ts";
import { skips } from "../../support/skips.ts";

const statement = statementsOver({ deliveries: deliveriesTable });
const states = statement()((db, { deliveries }) => {
  const { notification, status, attemptCount, blocked } = deliveries;
  return db.select({ status, attemptCount, blocked }).from(deliveries).orderBy(asc(notification));
});

describe("deliveries with one order key", () => {
  const taken = resources();

  /** A destination with one order key for all events. `status`: what it answers to each request. */
  async function ordered(status: (number: number) => number) {
    const destination = await gatewayDestination(
      taken,
      (number) => new Response(null, { status: status(number) }),
      { orderBy: "event.provider" },
    );
    const { app, gateway } = destination;
    const rows = () => app.services.storage.all(states, {});
    /** Within the few milliseconds that a queue sleeps at least. */
    const soon = (condition: () => Promise<boolean>) => untilLater(app, condition, 10);
    return {
      ...destination,
      ids: () => gateway.received.map(({ headers: { "webhook-id": id } }) => id),
      rows,
      soon,
      /** Lets all attempts of the first delivery fail. */
      exhaustFirst: async () => {
        for (const [index, waitMs] of waits.entries()) {
          await soon(async () => (await rows())[0]?.attemptCount === index + 1);
          app.clock.advance(waitMs);
        }
        await soon(async () => (await rows())[0]?.status === "dead");
      },
    };
  }

  test("become due one after the other, each when the one before it is delivered", async () => {
    const { deliver, ids, rows } = await ordered(() => 200);
    await deliver(5);
    // No time passes.
    const isDelivered = ({ status }: { status: string }) => status === "delivered";
    await until(async () => (await rows()).every(isDelivered));
    expect(new Set(ids()).size).toBe(5);
    expect((await rows()).some(({ blocked }) => blocked)).toBe(false);
  });

  test("get one attempt each after one died, until one succeeds", async () => {
    // The first is attempted seven times, and the next two fail once.
    const { app, deliver, ids, rows, soon, exhaustFirst } = await ordered((n) =>
      n <= 9 ? 500 : 200,
    );
    await deliver(6);
    expect((await rows()).filter(({ blocked }) => blocked)).toHaveLength(5);
    await exhaustFirst();
    const diedAt = app.clock.now();
    const isSettled = ({ status }: { status: string }) => /dead|delivered/.test(status);
    await soon(async () => (await rows()).every(isSettled));
    expect(app.clock.now() - diedAt).toBeLessThan(waits[0] ?? 0);
    expect((await rows()).map(({ status, attemptCount }) => [status, attemptCount])).toEqual([
      ["dead", 7],
      ["dead", 1],
      ["dead", 1],
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
    ]);
    const seen = ids();
    expect(seen.filter((id, index) => seen[index - 1] !== id)).toHaveLength(6);
  });

  test("are all sent, in their order, after the dead ones are retried", async () => {
    let status = 500;
    const { app, path, deliver, ids, rows, soon, exhaustFirst } = await ordered(() => status);
    await deliver(4);
    await exhaustFirst();
    await soon(async () => (await rows()).every((each) => each.status === "dead"));
    const order = (await listed(app, `${path}/deliveries?limit=10`, "admin"))
      .map(({ notificationId }) => notificationId)
      .toReversed();
    const before = ids().length;
    status = 200;
    await app.as("admin", `${path}/retry`, { method: "POST" });
    await soon(async () => (await rows()).every((each) => each.status === "delivered"));
    expect(ids().slice(before)).toEqual(order.map(String));
  });
});

test("the statements of a queue read no delivery that waits for others", () => {
  const group = { destination: 1, orderKey: "key" };
  const [unblockFirst, blockOthers] = reorder([group], new Date());
  const due = "deliveries_due (destination=? AND due_at";
  const first = "deliveries_blocked (destination=? AND order_key>? AND order_key<?";
  const heads = "deliveries_heads (destination=? AND order_key>? AND order_key<?";
  const before = [first, heads];
  const [orphans, orphansBehind] = orphanedDestinations;
  const plans = {
    claimDue: [claimDue, due, ...before],
    claimFirst: [claimFirst, due, ...before],
    nextDue: [nextDue, due, ...before],
    destinationsDue: [destinationsDue, due],
    takeProbe: [takeProbe, due],
    waitingBefore: [waitingBefore, due],
    unblockFirst: [unblockFirst?.statement, ...before],
    blockOthers: [
      blockOthers?.statement,
      "deliveries_heads (destination=? AND order_key=? AND notification>?)",
      heads,
    ],
    orphans: [orphans, "deliveries_due (destination>?)", "INTEGER PRIMARY KEY"],
    orphansBehind: [orphansBehind, "deliveries_blocked (destination>?)", "INTEGER PRIMARY KEY"],
  } as const;
  for (const [name, [each, ...indexes]] of Object.entries(plans)) {
    if (each === undefined) throw new Error(`No statement ${name}`);
    const plan = planOnSqlite(each);
    for (const index of indexes) {
      expect({ name, plan: plan.filter((line) => line.includes(index)) }).not.toEqual({
        name,
        plan: [],
      });
    }
    expect(plan.filter((line) => /^SCAN deliveries|TEMP B-TREE/.test(line))).toEqual([]);
  }
});

test.skipIf(skips(noManyConnections))(
  "on PostgreSQL, they read none either, with and without statistics",
  async () => {
    await using database = await filledPostgres(
      `insert into deliveries (destination, notification, event, order_key, status, attempt_count, due_at, blocked)
      select 1, i, i, 'key', 'pending', 0, i, i > 1 from generate_series(1, 5000) as i`,
      `insert into destinations (number, id, name, format, transport, url, max_concurrent, alerts, state, created_at, updated_at, failures, sealed)
      values (1, 'dst_1', 'one', 'json', 'http', '', 8, false, 'active', 0, 0, 0, '')`,
    );
    const now = new Date(10_000);
    const [unblockFirst, blockOthers] = reorder([{ destination: 1, orderKey: "key" }], now);
    const [orphans, orphansBehind] = orphanedDestinations;
    const runs = {
      claimDue: write(claimDue, { destination: 1, now, leasedUntil: now, limit: 16 }),
      nextDue: { statement: nextDue, values: { destination: 1, after: now } },
      destinationsDue: { statement: destinationsDue, values: { until: now } },
      unblockFirst,
      blockOthers,
      orphans: { statement: orphans, values: {} },
      orphansBehind: { statement: orphansBehind, values: {} },
    };
    for (const statistics of [false, true]) {
      if (statistics) await database.run("analyze deliveries");
      for (const [name, run] of Object.entries(runs)) {
        if (run?.statement === undefined) throw new Error(`No statement ${name}`);
        const plan = await database.planOf(run.statement, run.values);
        expect(plan).toContain("actual rows");
        const most = mostRejected(plan);
        const shown = { name, statistics, plan };
        expect({ ...shown, most }).toEqual({ ...shown, most: Math.min(5, most) });
      }
    }
  },
);
