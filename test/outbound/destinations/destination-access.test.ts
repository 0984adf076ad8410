import { beforeAll, describe, expect, test } from "bun:test";

import { json, startApp, until } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { deliver, second, untilLater } from "../../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const path = "/v1/destinations";
const url = "http://127.0.0.1:1024/hook";

describe("an operator", () => {
  let shared: string;
  let hers: string;
  const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  beforeAll(async () => {
    const made = await app.as("admin", path, post({ name: "shared", format: "json", url }));
    shared = `${path}/${String((await json(made))["id"])}`;
    const own = await app.as("user", path, post({ name: "hers", format: "json", url }), "ada");
    hers = `${path}/${String((await json(own))["id"])}`;
  });

  test("reads the destinations of the operators, not those of users", async () => {
    await app.as("operator", path, post({ name: "own", format: "json", url }));
    const names = (await listed(app, path)).map(({ name }) => name);
    expect(names).toEqual(["own", "shared"]);
    expect((await app.as("operator", shared)).status).toBe(200);
    expect((await app.as("operator", `${shared}/deliveries`)).status).toBe(200);
    expect((await app.as("operator", hers)).status).toBe(404);
    expect((await app.as("operator", `${hers}/deliveries`)).status).toBe(404);
  });

  test("lists the destinations of the operators alone, and a user may not", async () => {
    const ofOperators = `${path}?owner=operators`;
    expect((await app.as("operator", ofOperators)).status).toBe(200);
    expect((await app.as("user", ofOperators, {}, "ada")).status).toBe(403);
  });

  test.each(["pause", "resume", "disable", "rotate", "test", "retry"])(
    "may not %s them",
    async (action) => {
      const response = await app.as("operator", `${shared}/${action}`, { method: "POST" });
      expect(response.status).toBe(403);
      expect((await json(response))["code"]).toBe("insufficient-scope");
      expect((await app.as("operator", `${hers}/${action}`, { method: "POST" })).status).toBe(404);
    },
  );

  test("may not change or remove them", async () => {
    const changes = { ...post({ name: "mine" }), method: "PATCH" };
    expect((await app.as("operator", shared, changes)).status).toBe(403);
    expect((await app.as("operator", shared, { method: "DELETE" })).status).toBe(403);
    expect((await app.as("user", shared, { method: "DELETE" })).status).toBe(404);
  });
});

test("the deliveries of a destination have the title of their notification and, on request, their attempts", async () => {
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const made = await app.as("user", path, post({ name: "hers", format: "json", url }), "ada");
  const deliveries = `${path}/${String((await json(made))["id"])}/deliveries`;
  const flight = await addFlight(app);
  await app.as("user", "/v1/api/bookings", post(bookingBody(flight.id)), "ada");
  const read = async (query = "") => json(await app.as("user", `${deliveries}${query}`, {}, "ada"));
  await until(async () => JSON.stringify(await read()).includes("retrying"));
  expect(await read("?include=attempts")).toMatchObject({
    data: [
      {
        title: expect.stringMatching(/^Booking \w+ confirmed/),
        severity: "success",
        status: "retrying",
        attempts: [{ delivered: false, responseStatus: null }],
      },
    ],
  });
  expect(JSON.stringify(await read())).not.toContain('attempts"');
});

test("a delivery has its last 20 attempts", async () => {
  await using app = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const retryDelays = "1s ".repeat(20).trim();
  await app.as("admin", path, post({ name: "failing", format: "json", url, retryDelays }));
  await deliver(app);
  const [event] = await listed(app, "/v1/events");
  const allTimes = async () => {
    const [notification] = await timelineOf(app, event?.["id"]);
    return itemsOf(notification?.["attempts"]).map(({ startedAt }) => startedAt);
  };
  await untilLater(app, async () => (await allTimes()).length > 20, 10 * second);
  const [destination] = await listed(app, path, "admin");
  const deliveries = `${path}/${String(destination?.["id"])}/deliveries?include=attempts`;
  const [delivery] = await listed(app, deliveries, "admin");
  const times = itemsOf(delivery?.["attempts"]).map(({ startedAt }) => startedAt);
  expect(times).toEqual((await allTimes()).slice(-20));
});

describe("a name", () => {
  const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
  const create = (name: string) => app.as("admin", path, post({ name, format: "json", url }));

  test("goes to one of several destinations that are renamed or created at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const ids = await Promise.all(
        ["a", "b", "c"].map(async (name) => (await json(await create(`${name}-${round}`)))["id"]),
      );
      const wanted = `wanted-${round}`;
      const responses = await Promise.all([
        ...ids.map((id) =>
          app.as("admin", `${path}/${String(id)}`, { ...post({ name: wanted }), method: "PATCH" }),
        ),
        create(wanted),
      ]);
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status < 300)).toHaveLength(1);
      expect(statuses.filter((status) => status === 422)).toHaveLength(3);
      const taken = responses.find(({ status }) => status === 422);
      expect(await json(taken ?? new Response("{}"))).toMatchObject({
        errors: [{ pointer: "/name", detail: "Another destination has this name" }],
      });
    }
  });
});
