import { expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertDeliveries } from "../../src/outbound/model/deliveries.sql.ts";
import { type TestApp, until } from "../support/app.ts";
import type { Received } from "../support/gateway.ts";
import { contextOf, listed } from "../support/operator.ts";
import { resources } from "../support/resources.ts";
import { deliveryRow, destinationNumber, notificationRow } from "../support/rows.ts";

const taken = resources();
const receiver = (status: number) => taken.gateway(() => new Response(null, { status }));

const admin = contextOf("admin", "admin");
const start = () => taken.app({ DESTINATIONS_ALLOW_PRIVATE: "true" });

/** The alerts of a type. One is sent again if the clock passes its lease meanwhile. */
function ofType(type: string, received: readonly Received[]) {
  const alerts = received
    .map(({ body }) => JSON.parse(body))
    .filter((body) => body.type === `skyhook.alert.${type}`);
  return [...new Map(alerts.map((body) => [body.timestamp, body])).values()];
}

/** What a destination is sent, also what waits for it. */
const titlesTo = async (app: TestApp, id: string) =>
  (await listed(app, `/v1/destinations/${id}/deliveries?limit=100`, "admin")).map(({ title }) =>
    String(title),
  );

/** The next sweep. The clock advances again if it did while a sweep ran, which set its timer afterwards. */
async function sweep(app: TestApp, isDone: () => boolean): Promise<void> {
  for (let minutes = 1; !isDone(); minutes += 1) {
    if (minutes > 20) throw new Error("No sweep announced it");
    app.clock.advance(60_000);
    for (let waits = 0; waits < 50 && !isDone(); waits += 1) await Bun.sleep(10);
  }
}

test("open circuits are announced once, and not to the destination that fails", async () => {
  const app = await start();
  const [failing, watching, ordinary] = [receiver(500), receiver(200), receiver(200)];
  const { destinations } = app.services;
  const input = (name: string, url: string) => ({ name, url, format: "json" });
  const { made } = await destinations.create(admin, {
    ...input("failing", failing.url),
    alerts: true,
  });
  await destinations.create(admin, { ...input("watching", watching.url), alerts: true });
  await destinations.create(admin, input("ordinary", ordinary.url));
  for (let n = 0; n < 12; n += 1) await app.deliverSample("task_tracker", "task.completed");
  await until(async () => (await destinations.read(admin, made.id)).failures >= 10);
  await until(() => ordinary.received.length === 12 && watching.received.length === 12);
  await sweep(app, () => ofType("circuit_open", watching.received).length === 1);
  expect(ofType("circuit_open", watching.received)).toEqual([
    expect.objectContaining({
      data: expect.objectContaining({
        severity: "error",
        title: expect.stringContaining("Destinations fail: failing:"),
      }),
    }),
  ]);
  const toFailing = await titlesTo(app, made.id);
  expect(toFailing).toHaveLength(12);
  expect(toFailing.filter((title) => title.startsWith("Destinations fail"))).toEqual([]);
  expect(ofType("circuit_open", ordinary.received)).toEqual([]);
});

test("a destination that is gone is announced once, one that a person disabled is not", async () => {
  const app = await start();
  const [gone, working, watching] = [receiver(410), receiver(200), receiver(200)];
  const { destinations } = app.services;
  const create = async (name: string, url: string, alerts: boolean) =>
    (await destinations.create(admin, { name, url, format: "json", alerts })).made.id;
  const goneId = await create("gone", gone.url, true);
  const workingId = await create("working", working.url, false);
  await create("watching", watching.url, true);
  await app.deliverSample("task_tracker", "task.completed");
  await until(async () => (await destinations.read(admin, goneId)).state === "disabled");
  await until(() => working.received.length === 1);
  await destinations.setState(admin, workingId, "disabled");
  await sweep(app, () => ofType("destination_gone", watching.received).length === 1);
  const titles = ofType("destination_gone", watching.received).map(
    ({ data }) => Object(data).title,
  );
  expect(titles).toEqual(["Destinations were disabled: gone: the destination answered 410 Gone"]);
});

test("dead letters are announced when there are more of them", async () => {
  const app = await start();
  const watching = receiver(200);
  const { destinations } = app.services;
  const input = { name: "watching", url: watching.url, format: "json", alerts: true };
  await destinations.create(admin, input);
  const silent = { name: "silent", url: receiver(200).url, format: "json", alerts: true };
  const { made } = await destinations.create(admin, silent);
  const destination = await destinationNumber(app.services.storage, made.id);
  const die = async (...numbers: readonly number[]) => {
    const rows = numbers.map((number) =>
      deliveryRow(notificationRow(number), { destination, status: "dead" }),
    );
    await app.services.storage.atomically(
      ...rows.map((row) => write(insertDeliveries, { deliveries: [row] })),
    );
  };
  app.clock.advance(60_000);
  await die(1, 2);
  const titles = () =>
    ofType("dead_letters", watching.received).map(({ data }) => String(Object(data).title));
  await sweep(app, () => titles().length === 1);
  await die(3);
  await sweep(app, () => titles().length === 2);
  expect(titles()).toEqual([
    "Notifications are dead-lettered: silent: 2 dead",
    "Notifications are dead-lettered: silent: 3 dead",
  ]);
  expect(await titlesTo(app, made.id)).toEqual([]);
});

test("many rejected deliveries are one message", async () => {
  const app = await start();
  const watching = receiver(200);
  const alerts = { name: "watching", url: watching.url, format: "json", alerts: true };
  await app.services.destinations.create(admin, alerts);
  app.clock.advance(60_000);
  for (let n = 0; n < 20; n += 1) {
    const headers = { "x-tasktracker-signature": "nonsense" };
    await app.fetch("/webhooks/task_tracker", { method: "POST", body: "{}", headers });
  }
  await until(() => {
    app.clock.advance(60_000);
    return ofType("rejections", watching.received).length > 0;
  });
  expect(ofType("rejections", watching.received)).toEqual([
    expect.objectContaining({
      data: expect.objectContaining({
        title: "Many deliveries are rejected: task_tracker: 20 within five minutes",
      }),
    }),
  ]);
});
