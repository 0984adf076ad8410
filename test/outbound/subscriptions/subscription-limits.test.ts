import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import { insertDestination } from "../../../src/outbound/destinations.sql.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { post } from "../../support/flights.ts";
import type { TestGateway } from "../../support/gateway.ts";
import { hour } from "../../support/notifying.ts";
import { listed } from "../../support/operator.ts";
import { destinationRow } from "../../support/rows.ts";

import { agentOf, callback, wanted } from "./callback.ts";

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** On a server two instances, so that several connections commit at the same time. */
const instances = { sqlite: 1, postgres: noManyConnections === null ? 2 : 1 };

describe.each(["sqlite", "postgres"] as const)("on %s", (dialect) => {
  let database: TestDatabase | null = null;
  let apps: readonly TestApp[] = [];
  let endpoint: TestGateway;
  beforeAll(async () => {
    endpoint = callback();
    if (dialect === "postgres") database = await postgresDatabase();
    const env = {
      DESTINATIONS_ALLOW_PRIVATE: "operators",
      ...(database !== null && { DATABASE_URL: database.url }),
    };
    for (const _ of times(instances[dialect])) {
      apps = [...apps, await startApp(env, undefined, { dialect })];
    }
  });
  afterAll(async () => {
    for (const app of apps) await app.stop();
    await database?.[Symbol.asyncDispose]();
    await endpoint.stop();
  });

  function appOf(index: number): TestApp {
    const app = apps[index % apps.length];
    if (app === undefined) throw new Error("No app");
    return app;
  }

  const subscribe = (index: number, subscriber: string, subject: string) =>
    appOf(index).services.subscriptions.subscribe(
      agentOf(subscriber),
      wanted(endpoint.url, { subscriber, subject }),
    );
  const all = () => listed(appOf(0), "/v1/destinations?limit=100", "admin");

  test("equal subscriptions at the same time make one", async () => {
    const made = await Promise.allSettled(times(6).map((n) => subscribe(n, "same", "a")));
    const values = made.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(values.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(values.map(({ id }) => id)).size).toBe(1);
    for (const each of made) {
      if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "unavailable" });
    }
    expect(await all()).toHaveLength(1);
  });

  test("of twenty-four subscriptions of an agent at once, twenty are stored", async () => {
    await subscribe(0, "many", "0");
    const made = await Promise.allSettled(times(23).map((n) => subscribe(n, "many", `${n + 1}`)));
    const refused = made.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toHaveLength(4);
    for (const reason of refused) {
      expect(reason).toMatchObject({ kind: "limit", data: { limit: "subscriptions", max: 20 } });
    }
    // One that exists can be refreshed.
    expect(await subscribe(0, "many", "0")).toMatchObject({ isNew: false });
  });

  test("all agents together have two hundred, and operators their hundred besides", async () => {
    const expiresAt = new Date(appOf(0).clock.now() + hour);
    const rows = times(198 - (await all()).length).map((n) =>
      destinationRow(n, { subscriber: `other-${n}`, expiresAt }),
    );
    await Promise.all(
      rows.map((row) => appOf(0).services.storage.atomically(write(insertDestination, row))),
    );
    const made = await Promise.allSettled(times(4).map((n) => subscribe(n, `late-${n}`, "a")));
    const refused = made.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toMatchObject([
      { kind: "limit", data: { limit: "subscriptions", max: 200 } },
      { kind: "limit", data: { limit: "subscriptions", max: 200 } },
    ]);
    const own = post({ name: "own", format: "json", url: endpoint.url });
    expect((await appOf(0).as("admin", "/v1/destinations", own)).status).toBe(201);
    // Those that have ended leave room.
    for (const app of apps) app.clock.jump(2 * hour);
    expect(await subscribe(0, "later", "a")).toMatchObject({ isNew: true });
  });
});
