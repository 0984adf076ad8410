import { describe, expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import type { Severity } from "../../src/event/new-notification.ts";
import { deleteSettledEvents } from "../../src/events/retention/retention.sql.ts";
import { agentOf, callback, deliveriesTo, wanted } from "../outbound/subscriptions/callback.ts";
import { hour, untilLater } from "../support/notifying.ts";
import { listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest({ DESTINATIONS_ALLOW_PRIVATE: "true" });
const agent = agentOf("agent");
const completed = {
  provider: "task_tracker",
  type: "task.completed",
  severity: null as readonly Severity[] | null,
  subject: null as string | null,
};

describe("a poll", () => {
  const poll = (
    after: string | null,
    { match = completed, since = null as Date | null, limit = 100 } = {},
  ) => app.services.eventPolls.read(agent, match, { after, since, limit });
  const deliver = (type = "task.completed") => app.deliverSample("task_tracker", type);
  /** Events without notifications. */
  const store = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        app.services.storage.atomically(
          write(insertEvent, eventRow(index, { createdAt: new Date(app.clock.now()) })),
        ),
      ),
    );

  test("begins with new events, and goes on where the last poll ended", async () => {
    await deliver();
    const first = await poll(null);
    expect(first).toMatchObject({ events: [], truncated: false, hasMore: false });
    await deliver();
    await deliver("task.created");
    const second = await poll(first.cursor);
    expect(second.events).toHaveLength(1);
    expect(await poll(second.cursor)).toMatchObject({ events: [], hasMore: false });
  });

  test("begins at a time, and reads the rest with the cursor of a full poll", async () => {
    await deliver();
    app.clock.advance(hour);
    const since = new Date(app.clock.now());
    for (let n = 0; n < 3; n += 1) await deliver();
    const page = await poll(null, { since, limit: 2 });
    expect(page).toMatchObject({ hasMore: true, truncated: false });
    const rest = await poll(page.cursor, { limit: 2 });
    expect(rest).toMatchObject({ hasMore: false });
    const polled = [...page.events, ...rest.events].map(({ eventId: id }) => ({ id }));
    const all = await listed(app, "/v1/events");
    expect(all.toReversed().slice(1)).toMatchObject(polled);
  });

  test("reads at most a thousand events at once", async () => {
    const { cursor } = await poll(null);
    await store(1_050);
    await deliver();
    const first = await poll(cursor);
    expect(first).toMatchObject({ events: [], hasMore: true });
    const second = await poll(first.cursor);
    expect(second).toMatchObject({ events: [{ eventId: expect.any(String) }], hasMore: false });
  });

  test("says when retention has deleted events after the cursor, once", async () => {
    await deliver();
    const { cursor } = await poll(null);
    await deliver();
    const ids = (await listed(app, "/v1/events")).map(
      ({ id }) => `evt_${String(id).slice(4)}` as const,
    );
    await app.services.storage.atomically(write(deleteSettledEvents, { ids }));
    const late = await poll(cursor);
    expect(late).toMatchObject({ events: [], truncated: true });
    expect(await poll(late.cursor)).toMatchObject({ truncated: false });
    await deliver();
    expect(await poll(late.cursor)).toMatchObject({ truncated: false, hasMore: false });
  });

  test("returns the body that a subscription delivers", async () => {
    await using endpoint = callback();
    const { cursor } = await poll(null);
    await app.services.subscriptions.subscribe(agent, wanted(endpoint.url));
    await deliver();
    await untilLater(app, () => deliveriesTo(endpoint).length === 1);
    const { events } = await poll(cursor);
    expect(deliveriesTo(endpoint).map(({ body }) => body)).toEqual([JSON.stringify(events[0])]);
  });

  test.each([
    ["severities", { severity: ["success", "error"] as const }, 1],
    ["another severity", { severity: ["error"] as const }, 0],
    ["another subject", { subject: "task/other" }, 0],
    ["another type", { type: "task.created" }, 0],
    ["another provider", { provider: "code_host" }, 0],
  ])("by %s", async (_, fields, count) => {
    const { cursor } = await poll(null);
    await deliver();
    const { events } = await poll(cursor, { match: { ...completed, ...fields } });
    expect(events).toHaveLength(count);
  });
});

describe("rejects", () => {
  const read = (after: string | null, provider: string, ctx = agent) =>
    app.services.eventPolls.read(ctx, { ...completed, provider }, { after, since: null, limit: 1 });

  test.each(["", "x", "-1", "1.5", "1e3", " 1", "9".repeat(16), "1".repeat(40)])(
    "the cursor %p",
    (after) => expect(read(after, "task_tracker")).rejects.toThrow("invalid-cursor"),
  );

  test("callers who are no operators", () => {
    const user = { ...agent, actor: { id: "ada", roles: ["user"] as const } };
    return expect(read(null, "task_tracker", user)).rejects.toThrow("insufficient-scope");
  });
});
