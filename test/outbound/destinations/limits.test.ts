import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { isNotNull } from "drizzle-orm";

import { statementsOver, write } from "../../../src/db/statement.ts";
import {
  destinationsTable,
  type StoredDestination,
} from "../../../src/outbound/model/destination.ts";
import { insertDestination } from "../../../src/outbound/model/destinations.sql.ts";
import { json, startApp, type TestApp } from "../../support/app.ts";
import { noManyConnections, postgresDatabase, type TestDatabase } from "../../support/databases.ts";
import { post } from "../../support/flights.ts";
import { listed } from "../../support/operator.ts";
import { destinationRow } from "../../support/rows.ts";

const path = "/v1/destinations";
const url = "http://127.0.0.1:1099/hook";
const deleteDestinations = statementsOver({ destinations: destinationsTable })()(
  (db, { destinations }) => db.delete(destinations).where(isNotNull(destinations.id)),
);
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** On a server two instances, so that several connections commit at the same time. */
const instances = { sqlite: 1, postgres: noManyConnections === null ? 2 : 1 };

describe.each(["sqlite", "postgres"] as const)("on %s", (dialect) => {
  let database: TestDatabase | null = null;
  let apps: readonly TestApp[] = [];
  beforeAll(async () => {
    if (dialect === "postgres") database = await postgresDatabase();
    const env = {
      DESTINATIONS_ALLOW_PRIVATE: "true",
      ...(database !== null && { DATABASE_URL: database.url }),
    };
    for (const _ of times(instances[dialect])) {
      apps = [...apps, await startApp(env, undefined, { dialect })];
    }
  });
  afterEach(() => appOf(0).services.storage.atomically(write(deleteDestinations, {})));
  afterAll(async () => {
    for (const app of apps) await app.stop();
    await database?.[Symbol.asyncDispose]();
  });

  function appOf(index: number): TestApp {
    const app = apps[index % apps.length];
    if (app === undefined) throw new Error("No app");
    return app;
  }
  const create = (index: number, name: string, bearer: string, role: "user" | "admin" = "user") =>
    appOf(index).as(role, path, post({ name, format: "json", url }), bearer);
  const store = (rows: readonly StoredDestination[]) =>
    Promise.all(
      rows.map((each) => appOf(0).services.storage.atomically(write(insertDestination, each))),
    );

  /** The statuses of twelve requests at the same time, in order. */
  async function twelve(request: (index: number) => Promise<Response>): Promise<readonly number[]> {
    const responses = await Promise.all(times(12).map(request));
    return responses.map(({ status }) => status).toSorted((one, other) => one - other);
  }
  const successes = (count: number) => [
    ...times(count).map(() => 201),
    ...times(12 - count).map(() => 422),
  ];

  test("of twelve destinations that a user creates at once, five are stored", async () => {
    for (let round = 0; round < 5; round += 1) {
      const statuses = await twelve((n) => create(n, `d${n}`, `ada-${round}`));
      expect(statuses).toEqual(successes(5));
    }
    expect(await json(await create(0, "d12", "ada-0"))).toMatchObject({
      code: "validation-failed",
      detail: "There are 5 destinations already. Remove one first.",
    });
  });

  test("two users may choose the same name, and one may not choose it twice", async () => {
    expect((await create(0, "deploys", "bob")).status).toBe(201);
    expect((await create(0, "deploys", "carol")).status).toBe(201);
    expect((await create(0, "deploys", "root", "admin")).status).toBe(201);
    expect(await json(await create(0, "deploys", "bob"))).toMatchObject({
      errors: [{ pointer: "/name", detail: "Another destination has this name" }],
    });
    expect(await twelve((n) => create(n, "same", "dora"))).toEqual(successes(1));
  });

  test("twelve requests with one Idempotency-Key create one destination, and show its secret once", async () => {
    const body = { name: "keyed", format: "json", url };
    const made = await Promise.all(
      times(12).map(async (n) => {
        const init = post(body, { "idempotency-key": "one" });
        return json(await appOf(n).as("user", path, init, "frank"));
      }),
    );
    const ids = made.map(({ id, code }) => id ?? code);
    const created = new Set(ids.filter((id) => id !== "idempotency-in-flight"));
    expect(created.size).toBe(1);
    expect(made.filter(({ secret }) => typeof secret === "string")).toHaveLength(1);
  });

  test("a user's destination is called by its id in the audit list", async () => {
    const { id } = await json(await create(0, "mine", "eve"));
    const list = await listed(appOf(0), "/v1/audit?actor=eve", "admin");
    expect(list).toMatchObject([{ action: "destination.created", subject: id }]);
  });

  test("all users together have 1,000 destinations, and the operators 100", async () => {
    await store(times(998).map((n) => destinationRow(n, { ownerId: `owner-${n}` })));
    await store(times(97).map((n) => destinationRow(2_000 + n)));
    expect(await twelve((n) => create(n, "last", `late-${n}`))).toEqual(successes(2));
    expect(await json(await create(0, "more", "later"))).toMatchObject({
      code: "validation-failed",
      detail: expect.stringContaining("The users of this server have 1000 destinations"),
    });
    const byAdmins = await twelve((n) => create(n, `last-${n}`, "root", "admin"));
    expect(byAdmins).toEqual(successes(3));
  });
});
