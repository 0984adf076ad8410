import { describe, expect, test } from "bun:test";

import { firstPositionAt } from "../../../src/base/ids.ts";
import type { Destination } from "../../../src/outbound/model/destination.ts";
import { json } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import { type AttemptRow, attemptWrite, destinationNumber } from "../../support/rows.ts";
import { appForAll } from "../../support/running-app.ts";

const startMs = Date.UTC(2026, 10, 21, 8);
const minuteMs = 60_000;
const path = "from=2026-11-21T08:00:00Z&to=2026-11-21T08:03:00Z";
const none = {
  attempts: 0,
  failed: 0,
  p50Ms: null,
  p95Ms: null,
  p50SinceReceiptMs: null,
  p95SinceReceiptMs: null,
};

describe.each(["sqlite", "postgres"] as const)("the latency of destinations on %s", (dialect) => {
  const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" }, undefined, { dialect });

  async function made(name: string, role: "admin" | "user" = "admin"): Promise<Destination["id"]> {
    const url = "http://127.0.0.1:1024/hook";
    const answer = await app.as(role, "/v1/destinations", post({ name, format: "json", url }));
    // Guarantee: the schema of the response requires an id with this prefix.
    return String((await json(answer))["id"]) as Destination["id"];
  }
  async function store(id: Destination["id"], all: readonly Partial<AttemptRow>[]) {
    const destination = await destinationNumber(app.services.storage, id);
    const writes = all.map((fields, index) =>
      attemptWrite({
        notification: firstPositionAt(startMs) + index,
        destination,
        startedAt: new Date(startMs),
        durationMs: 10,
        delivered: true,
        responseStatus: 200,
        error: null,
        ...fields,
      }),
    );
    await app.services.storage.atomically(...writes);
  }
  const latencyOf = async (id: string, query = path) =>
    json(await app.as("operator", `/v1/destinations/${id}/latency?${query}`));
  const at = (ms: number) => new Date(startMs + ms);

  test("shows each step: durations of attempts made, and times since the receipt", async () => {
    const [id, other] = [await made("measured"), await made("other")];
    await store(other, [{ durationMs: 9_999 }]);
    await store(id, [
      { startedAt: at(-1), durationMs: 5_000 },
      {
        startedAt: at(0),
        durationMs: 100,
        delivered: false,
        responseStatus: 500,
        error: "HTTP 500",
      },
      { startedAt: at(5_000), durationMs: 20 },
      { startedAt: at(6_000), durationMs: 30 },
      { startedAt: at(2 * minuteMs), durationMs: 40, delivered: false, error: "timed out" },
      { startedAt: at(3 * minuteMs), durationMs: 6_000 },
    ]);
    expect(await latencyOf(id)).toEqual({
      from: "2026-11-21T08:00:00.000Z",
      to: "2026-11-21T08:03:00.000Z",
      stepSeconds: 60,
      steps: [
        {
          attempts: 3,
          failed: 1,
          p50Ms: 30,
          p95Ms: 100,
          p50SinceReceiptMs: 5_020,
          p95SinceReceiptMs: 6_030,
        },
        none,
        { ...none, attempts: 1, failed: 1, p50Ms: 40, p95Ms: 40 },
      ],
    });
  });

  test("reads at most the newest 100 attempts of a step", async () => {
    const id = await made("busy");
    const attempts = Array.from({ length: 150 }, (_, index) => ({
      startedAt: at(index),
      durationMs: index,
    }));
    await store(id, attempts);
    const [step] = itemsOf((await latencyOf(id))["steps"]);
    expect(step).toMatchObject({ attempts: 100, p50Ms: 99, p95Ms: 144, p50SinceReceiptMs: 198 });
  });

  test("is the last hour in minutes by default", async () => {
    const id = await made("unused");
    const { stepSeconds, steps } = await latencyOf(id, "");
    expect(stepSeconds).toBe(60);
    expect(itemsOf(steps).length).toBeOneOf([60, 61]);
    expect(itemsOf(steps)[0]).toEqual(none);
  });

  test("a clock that was set back gives no negative times", async () => {
    const id = await made("backward");
    await store(id, [{ startedAt: at(0), notification: firstPositionAt(startMs + minuteMs) }]);
    const [step] = itemsOf((await latencyOf(id))["steps"]);
    expect(step).toMatchObject({ p50SinceReceiptMs: 0, p95SinceReceiptMs: 0 });
  });

  test.each([
    ["step=90", "step"],
    ["step=0", "step"],
    ["from=yesterday", "from"],
    ["from=2026-11-21T08:00:00Z&to=2026-11-21T08:00:00Z", "from"],
    // 101 steps.
    ["from=2026-11-21T08:00:00Z&to=2026-11-21T09:41:00Z", "step"],
    ["steps=60", "steps"],
  ])("%s is an invalid parameter", async (query, parameter) => {
    const id = await made(`p${Bun.hash(query).toString(36)}`);
    const answer = await app.as("operator", `/v1/destinations/${id}/latency?${query}`);
    expect(answer.status).toBe(400);
    expect(itemsOf((await json(answer))["errors"])[0]).toMatchObject({ parameter });
  });

  test("operators do not see the destinations of users", async () => {
    const id = await made("hers", "user");
    expect((await app.as("operator", `/v1/destinations/${id}/latency`)).status).toBe(404);
    expect((await app.as("user", `/v1/destinations/${id}/latency`)).status).toBe(200);
  });
});
