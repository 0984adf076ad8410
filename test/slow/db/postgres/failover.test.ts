import { expect, test } from "bun:test";

import { openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import { claimDue } from "../../../../src/outbound/deliveries/delivery-queue.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { failure } from "../../../support/failure.ts";
import { at } from "../../../support/graphql.ts";
import { deliverTo, keepDelivering, keysOnServer } from "../../../support/load.ts";
import { movableAddress } from "../../../support/movable-address.ts";
import { noOwnPostgres } from "../../../support/own-postgres.ts";
import { runSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";
import { skips } from "../../../support/skips.ts";
import { book, cancel } from "../../harness/clients.ts";
import { flightLines } from "../../harness/flights.ts";

const taken = resources();

test.skipIf(skips(noOwnPostgres))(
  "a standby has everything acknowledged; until it is promoted, the service answers 503 and is not ready [PG-4]",
  async () => {
    const primary = await taken.ownPostgres();
    const standby = await primary.addStandby();
    const address = await movableAddress(primary.url);
    taken.ends.push(() => address.stop());
    const env = { DATABASE_URL: address.url, DATABASE_RETRY_MS: "200" };
    const server = await taken.start(taken.newFolder(), env);
    const { acknowledged, refused, statuses, end } = keepDelivering(server, 4);
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    await until(() => acknowledged.size > 50, 10_000);

    await primary.crash();
    address.moveTo(standby.url);
    await until(() => server.log().includes("read-only transaction"), 10_000);
    const atStandby = acknowledged.size;
    expect(await ready()).toBe(503);
    await until(() => refused.size > 5, 10_000);
    expect(acknowledged.size).toBe(atStandby);

    const promotedMs = performance.now();
    await standby.promote();
    await until(() => acknowledged.size > atStandby, 15_000);
    console.log(`${Math.round(performance.now() - promotedMs)} ms after the promotion began`);
    await until(() => acknowledged.size > atStandby + 50, 15_000);
    expect(await ready()).toBe(200);
    const keys = await end();
    expect(statuses).toEqual(new Set([200, 503]));
    for (const number of refused) expect(await deliverTo(server, number)).toBe(200);
    expect(await keysOnServer(standby.url)).toEqual(keys);
    expect(await server.stop()).toBe(0);
  },
  90_000,
);

test.skipIf(skips(noOwnPostgres))(
  "without its synchronous standby, the service acknowledges nothing and is not ready until it is back [PG-6]",
  async () => {
    const primary = await taken.ownPostgres();
    const standby = await primary.addStandby();
    const env = { DATABASE_URL: primary.url, DATABASE_STATEMENT_TIMEOUT_MS: "300" };
    const server = await taken.start(taken.newFolder(), env);
    const input = flightLines([10]).join("\n");
    await runSkyhook(["import", "-", "--format", "ndjson"], { ...server, input });
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    expect(await deliverTo(server, 1)).toBe(200);
    expect(await ready()).toBe(200);
    const bookingOf = (key: string) => book(server, { key, flightId: 1, passengers: 1 });
    const earlier = await bookingOf("key-1");
    const cancelling = () => cancel(server, String(at(earlier?.body, "bookingId")));

    await standby.crash();
    // Readiness first: an instance without writes has to find out by itself.
    expect(await ready()).toBe(503);
    expect(await deliverTo(server, 2)).toBe(503);
    // A statement timeout ends the wait for the standby: the server commits locally, and readers see it.
    for (const ask of [() => bookingOf("key-2"), cancelling]) {
      expect((await ask())?.status).toBe(503);
      expect((await ask())?.status).toBe(503);
    }

    await standby.start();
    await until(async () => (await ready()) === 200, 30_000);
    expect(await deliverTo(server, 2)).toBe(200);
    expect((await bookingOf("key-2"))?.headers.get("idempotent-replayed")).toBe("true");
    expect((await cancelling())?.status).toBe(200);
    expect(await server.stop()).toBe(0);
  },
  90_000,
);

test.skipIf(skips(noOwnPostgres))(
  "`settled` waits for a commit on the standby, even when it shares the commit with a read-only transaction",
  async () => {
    const primary = await taken.ownPostgres();
    const limits = { poolSize: 1, connectTimeoutMs: 10_000, statementTimeoutMs: 300, retryMs: 0 };
    await (await openStorage(schema, primary.url, limits)).close();
    await using sql = new Bun.SQL(primary.url, { max: 1 });
    await sql.unsafe("alter system set synchronous_standby_names = 'nobody'");
    await primary.crash();
    await primary.start();

    const storage = await openStorage(schema, primary.url, limits);
    const lease = { destination: 1, now: new Date(), leasedUntil: new Date(), limit: 1 };
    const claim = () => storage.atomically(write(claimDue, lease));
    // Nothing is due, so it writes nothing, and its commit does not wait for a standby.
    await claim();
    const [, settled] = await Promise.all([claim().catch(() => {}), failure(storage.settled())]);
    expect(settled).toMatchObject({ code: "unavailable" });
    await storage.close();
  },
  60_000,
);
