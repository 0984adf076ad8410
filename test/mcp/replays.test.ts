import { expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { eventById } from "../../src/event/event.sql.ts";
import { insertEvent, reinterpretEvent } from "../../src/event/events.sql.ts";
import { insertReplayFailure } from "../../src/events/replays.sql.ts";
import { json, until } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { agentAs } from "../support/mcp.ts";
import { listed } from "../support/operator.ts";
import { eventRow } from "../support/rows.ts";
import { appPerTest } from "../support/running-app.ts";

const app = appPerTest({ MCP_ALLOW: "writes" });

test("does not show an agent which events about bookings a replay failed for, or why", async () => {
  const { storage } = app.services;
  const { id: flightId } = await addFlight(app);
  const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(flightId)));
  expect(booked.status).toBe(201);
  const [{ id: eventId } = {}] = await listed(app, "/v1/events?provider=bookings");
  const [event] = await storage.all(eventById, { id: `evt_${String(eventId).slice(4)}` });
  if (event === undefined) throw new Error("The booking has no event");
  // No text can be written about an unknown currency.
  const data = { ...event.data, currency: String(event.data["reference"]) };
  await storage.atomically(write(reinterpretEvent, { ...event, data }));
  app.clock.advance(1_000);
  const agent = await agentAs(app);
  const begun = await app.as(
    "operator",
    "/v1/replays",
    post({ from: "2020-01-01T00:00:00Z", onlyUndelivered: false }),
  );
  const { id } = await json(begun);
  const replayId = `rpl_${String(id).slice(4)}` as const;
  await until(async () => {
    app.clock.advance(1_000);
    return (
      (await json(await app.as("operator", `/v1/replays/${replayId}`)))["status"] === "finished"
    );
  });
  const stored = await listed(app, `/v1/replays/${String(id)}/failures`);
  expect(stored).toMatchObject([
    { id: eventId, error: `RangeError: Unknown currency: ${data.currency}` },
  ]);
  const webhook = eventRow(1);
  await storage.atomically(write(insertEvent, webhook));
  const failure = { replayId, id: webhook.id, createdAt: event.createdAt, error: "Too deep" };
  await storage.atomically(write(insertReplayFailure, failure));
  // It could have been about a booking.
  const deleted = { ...failure, id: eventRow(2).id };
  await storage.atomically(write(insertReplayFailure, deleted));
  const shown = await agent.tool("get_replay", { id });
  expect(shown).toMatchObject({ replay: { failed: 1 }, failures: { items: [{ id: webhook.id }] } });
  const preview = await agent.tool("preview_replay", { from: "2020-01-01T00:00:00Z" });
  expect(preview).toMatchObject({ untrusted: { newest: [{ id: webhook.id }] } });
  for (const answer of [shown, preview, await agent.tool("get_replay")]) {
    expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${String(eventId)}|${data.currency}`));
  }
});
