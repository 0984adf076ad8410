import { describe, expect, test } from "bun:test";

import { sql } from "drizzle-orm";

import { placeIn } from "../../../src/base/ids.ts";
import { statementsOver, write } from "../../../src/db/statement.ts";
import { deleteSettledEvents } from "../../../src/events/retention/retention.sql.ts";
import { notificationsTable } from "../../../src/outbound/model/notification.ts";
import { json, type TestApp } from "../../support/app.ts";
import { failure } from "../../support/failure.ts";
import {
  afterAttempt,
  deliver,
  hour,
  idsOf,
  second,
  untilLater,
  waits,
} from "../../support/notifying.ts";
import { contextOf, itemsOf, timelineOf } from "../../support/operator.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

const storedNotifications = statementsOver({ notifications: notificationsTable })()(
  (db, { notifications }) =>
    db
      .select({ position: notifications.position })
      .from(notifications)
      .where(sql`true`),
);

describe("an operator's replay", () => {
  test("sends new notifications if the first were delivered", async () => {
    const gateway = taken.gateway(() => new Response());
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    for (const count of [2, 3]) {
      const replay = await app.as("operator", `/v1/events/${String(id)}/replay`, {
        method: "POST",
      });
      expect(replay.status).toBe(200);
      await untilLater(app, () => gateway.received.length === count);
    }
    expect(idsOf(gateway).size).toBe(3);
    await untilLater(app, async () =>
      (await timelineOf(app, id)).every(({ status }) => status === "delivered"),
    );
    expect(await timelineOf(app, id)).toHaveLength(3);
  });

  test.each([
    ["is dead", [...waits, null]],
    ["waits for its next attempt", [null]],
  ])("sends a notification that %s again at once, with its own id", async (_, delays) => {
    let status = 500;
    const gateway = taken.gateway(() => new Response(null, { status }));
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    for (const [index, wait] of delays.entries()) {
      await afterAttempt(app, index + 1);
      if (wait !== null) app.clock.advance(wait);
    }
    status = 200;
    await app.as("operator", `/v1/events/${String(id)}/replay`, { method: "POST" });
    const { status: now, attemptCount } = await afterAttempt(app, delays.length + 1);
    expect([now, attemptCount]).toEqual(["delivered", 1]);
    expect(idsOf(gateway).size).toBe(1);
    expect(await timelineOf(app, id)).toHaveLength(1);
  });
});

const replay = (app: TestApp, id: unknown, query = "") =>
  app.as("operator", `/v1/events/${String(id)}/replay${query}`, { method: "POST" });

describe("an operator's replay during an attempt", () => {
  test("sends a new notification during a first attempt, unless onlyUndelivered is set", async () => {
    const answer = Promise.withResolvers<Response>();
    const gateway = taken.gateway(() => answer.promise);
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    await untilLater(app, () => gateway.received.length === 1);
    expect((await replay(app, id, "?onlyUndelivered=true")).status).toBe(200);
    expect(await timelineOf(app, id)).toHaveLength(1);
    expect((await replay(app, id)).status).toBe(200);
    await untilLater(app, () => gateway.received.length === 2);
    answer.resolve(new Response());
    await untilLater(app, async () =>
      (await timelineOf(app, id)).every(({ status }) => status === "delivered"),
    );
    expect(idsOf(gateway).size).toBe(2);
    expect(gateway.received).toHaveLength(2);
  });

  /** An event whose second attempt is running and waits for `answer`. */
  async function retried(answer: Promise<Response>) {
    const answers = [new Response(null, { status: 500 }), answer];
    const gateway = taken.gateway((number) => answers[number - 1] ?? new Response());
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    app.clock.advance(6 * second);
    await untilLater(app, () => gateway.received.length === 2);
    return { app, gateway, id };
  }

  test("does not send during a running retry, which can still succeed", async () => {
    const answer = Promise.withResolvers<Response>();
    const { app, gateway, id } = await retried(answer.promise);
    expect((await replay(app, id)).status).toBe(200);
    // When this one has arrived, all due notifications have been sent.
    const { id: other } = await json(await deliver(app));
    await untilLater(app, async () =>
      (await timelineOf(app, other)).every(({ status }) => status === "delivered"),
    );
    expect(gateway.received).toHaveLength(3);
    answer.resolve(new Response());
    await untilLater(app, async () => (await timelineOf(app, id))[0]?.["status"] === "delivered");
    app.clock.advance(hour);
    expect(itemsOf((await timelineOf(app, id))[0]?.["attempts"])).toHaveLength(2);
    expect(gateway.received).toHaveLength(3);
  });

  test("sends again at once after a running retry has failed", async () => {
    const answer = Promise.withResolvers<Response>();
    const { app, gateway, id } = await retried(answer.promise);
    expect((await replay(app, id)).status).toBe(200);
    answer.resolve(new Response(null, { status: 500 }));
    await untilLater(app, () => gateway.received.length === 3);
    await untilLater(app, async () => (await timelineOf(app, id))[0]?.["status"] === "delivered");
    expect(await timelineOf(app, id)).toMatchObject([{ attemptCount: 1 }]);
    expect(idsOf(gateway).size).toBe(1);
  });

  test("sends nothing with onlyUndelivered if all are delivered", async () => {
    const gateway = taken.gateway(() => new Response());
    const app = await taken.app(gateway.env);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    expect((await replay(app, id, "?onlyUndelivered=true")).status).toBe(200);
    expect(await timelineOf(app, id)).toHaveLength(1);
    const wrong = await replay(app, id, "?onlyUndelivered=1");
    expect([wrong.status, await json(wrong)]).toMatchObject([400, { code: "invalid-parameter" }]);
    expect(await timelineOf(app, id)).toHaveLength(1);
  });

  test("creates nothing for an event that is deleted meanwhile", async () => {
    const app = await taken.app(taken.gateway().env);
    const { id } = await json(await deliver(app));
    await afterAttempt(app, 1);
    const { storage, events } = app.services;
    const ctx = contextOf("someone", "operator");
    // Both transactions wait for the same commit, the deletion first. The replay reads the event before it.
    const deletion = storage.atomically(
      write(deleteSettledEvents, { positions: [placeIn("evt", String(id))?.position ?? 0] }),
    );
    const error = await failure(events.replay(ctx, String(id)));
    await deletion;
    expect(error).toMatchObject({ code: "not-found" });
    // The event's own notification remains, because this transaction deletes only the event.
    expect(await storage.all(storedNotifications, {})).toHaveLength(1);
  });
});
