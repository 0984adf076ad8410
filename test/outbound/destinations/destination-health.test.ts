import { describe, expect, test } from "bun:test";

import { write } from "../../../src/db/statement.ts";
import { maxCounted } from "../../../src/outbound/destinations/destination-health.sql.ts";
import { insertDeliveries, type NewDelivery } from "../../../src/outbound/model/deliveries.sql.ts";
import type { Destination } from "../../../src/outbound/model/destination.ts";
import { json } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import {
  type AttemptRow,
  attemptWrite,
  deliveryRow,
  destinationNumber,
  notificationRow,
} from "../../support/rows.ts";
import { appForAll } from "../../support/running-app.ts";

describe("the health of destinations", () => {
  const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });

  /** A paused destination, so that nothing sends what the test stores. */
  async function paused(name: string): Promise<Destination["id"]> {
    const url = "http://127.0.0.1:1024/hook";
    const made = await app.as("admin", "/v1/destinations", post({ name, format: "json", url }));
    // Guarantee: the schema of the response requires an id with this prefix.
    const id = String((await json(made))["id"]) as Destination["id"];
    await app.as("admin", `/v1/destinations/${id}/pause`, { method: "POST" });
    return id;
  }

  const numbersOf = (...ids: readonly Destination["id"][]) =>
    Promise.all(ids.map((id) => destinationNumber(app.services.storage, id)));

  let number = 0;
  async function store(
    rows: number,
    fieldsOf: (index: number) => Partial<NewDelivery> & { readonly createdAt?: Date },
  ) {
    const writes = Array.from({ length: rows }, (_, index) => {
      number += 1;
      const { createdAt, ...fields } = fieldsOf(index);
      const row = notificationRow(number, createdAt === undefined ? {} : { createdAt });
      return write(insertDeliveries, { deliveries: [deliveryRow(row, fields)] });
    });
    await app.services.storage.atomically(...writes);
  }
  async function attempts(destination: number, all: readonly Partial<AttemptRow>[]) {
    const writes = all.map((fields, index) =>
      attemptWrite({
        notification: index,
        destination,
        startedAt: new Date(app.clock.now() - 1_000_000 + index),
        durationMs: 10,
        delivered: true,
        responseStatus: 200,
        error: null,
        ...fields,
      }),
    );
    await app.services.storage.atomically(...writes);
  }
  const healthOf = async (id: string): Promise<Record<string, unknown>> =>
    Object(
      (await json(await app.as("operator", `/v1/destinations/${id}?include=health`)))["health"],
    );

  test("is empty without deliveries", async () => {
    expect(await healthOf(await paused("unused"))).toEqual({
      circuit: "closed",
      waiting: 0,
      dead: 0,
      oldestSeconds: null,
      lastAttemptAt: null,
      lastError: null,
      outcomes: [],
      successRate: null,
      p50Ms: null,
      p95Ms: null,
    });
  });

  test("counts waiting and dead deliveries, and sums up the last 100 attempts", async () => {
    const id = await paused("mixed");
    const [destination = 0, other = 0] = await numbersOf(id, await paused("other"));
    const old = new Date(app.clock.now() - 90_000);
    await store(3, (index) => ({ destination, createdAt: new Date(old.getTime() + index) }));
    await store(2, () => ({ destination, status: "dead" }));
    await store(4, () => ({ destination, status: "delivered" }));
    await store(5, () => ({ destination: other }));
    await attempts(destination, [
      // Beyond the last 100.
      ...Array.from({ length: 50 }, () => ({ delivered: false, durationMs: 9_000 })),
      ...Array.from({ length: 79 }, (_, index) => ({ durationMs: index + 1 })),
      ...Array.from({ length: 21 }, () => ({ delivered: false, durationMs: 10_000 })),
      { delivered: false, durationMs: 5, responseStatus: 500, error: "HTTP 500" },
    ]);
    const health = await healthOf(id);
    expect(health).toMatchObject({ waiting: 3, dead: 2, oldestSeconds: 90, lastError: "HTTP 500" });
    expect(health).toMatchObject({ successRate: 0.78, p50Ms: 40, p95Ms: 76 });
    const outcomes = [...Array(22).fill(false), ...Array(78).fill(true)];
    expect(health["outcomes"]).toEqual(outcomes);
  });

  test("has no negative age of what was stored before the clock was set back", async () => {
    const id = await paused("early");
    const [destination = 0] = await numbersOf(id);
    await store(1, () => ({ destination, createdAt: new Date(app.clock.now() + 90_000) }));
    expect(await healthOf(id)).toMatchObject({ waiting: 1, oldestSeconds: 0 });
  });

  test("counts at most 10,000, and each destination of a page on its own", async () => {
    const [few = 0, destination = 0] = await numbersOf(
      await paused("few"),
      await paused("backlog"),
    );
    await store(5, () => ({ destination: few }));
    const rows = maxCounted + 50;
    await store(rows, () => ({ destination }));
    await store(rows, () => ({ destination, status: "dead" }));
    const page = await json(await app.as("operator", "/v1/destinations?include=health&limit=2"));
    const found = itemsOf(page["data"]).map(({ name, health }) => ({ name, ...Object(health) }));
    expect(found).toMatchObject([
      { name: "backlog", waiting: maxCounted, dead: maxCounted },
      { name: "few", waiting: 5, dead: 0 },
    ]);
  });

  test("is included only on request", async () => {
    await paused("plain");
    const page = await json(await app.as("operator", "/v1/destinations?limit=1"));
    expect(itemsOf(page["data"])[0]).not.toHaveProperty("health");
    expect((await app.as("operator", "/v1/destinations?include=severity")).status).toBe(400);
  });
});
