import { expect, test } from "bun:test";

import { encodeCursor } from "../../src/base/cursor.ts";
import { idAt, placeIn } from "../../src/base/ids.ts";
import { json, jsonWith } from "../support/app.ts";
import { listed } from "../support/operator.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest();
const year = 365 * 86_400_000;

const deliver = async () =>
  String((await json(await app.deliverSample("task_tracker", "task.completed")))["id"]);

test("an id with another tail, or of another database, is not found", async () => {
  const { position, tail } = placeIn("evt", await deliver()) ?? { position: 0, tail: 0 };
  for (const id of [idAt("evt", position, (tail + 1) % 2 ** 52), idAt("evt", position + 1, tail)]) {
    await jsonWith(await app.as("operator", `/v1/events/${id}`), 404);
    await jsonWith(await app.as("operator", `/v1/events/${id}/replay`, { method: "POST" }), 404);
  }
});

test("a cursor from the future is before the first page, and one with a broken id is refused", async () => {
  const ids = [await deliver(), await deliver()].toReversed();
  const createdAt = new Date(app.clock.now() + year);
  const page = (id: string) => `/v1/events?cursor=${encodeCursor({ createdAt, id })}`;
  const future = idAt("evt", createdAt.getTime() * 1_024, 0);
  expect((await listed(app, page(future))).map(({ id }) => id)).toEqual(ids);
  for (const id of ["evt_1", `evt_${"f".repeat(32)}`]) {
    expect(await jsonWith(await app.as("operator", page(id)), 400)).toMatchObject({
      code: "invalid-cursor",
    });
  }
});

test("after the clock was set back by a year, events stay in the order of their receipt, and none is lost", async () => {
  const before = await deliver();
  app.clock.jump(-year);
  const after = [await deliver(), await deliver(), await deliver()];
  const found = await listed(app, "/v1/events");
  expect(found.map(({ id }) => id)).toEqual([before, ...after].toReversed());
  const times = found.map(({ createdAt }) => String(createdAt));
  expect(times).toEqual(times.toSorted().toReversed());
  expect(await listed(app, `/v1/events?q=task&limit=2`)).toHaveLength(2);
});
