import { beforeAll, describe, expect, test } from "bun:test";

import { write } from "../../src/db/statement.ts";
import { insertEvent } from "../../src/event/events.sql.ts";
import { insertRejection } from "../../src/inbound/rejections/rejections.sql.ts";
import { json } from "../support/app.ts";
import { post } from "../support/flights.ts";
import { itemsOf } from "../support/operator.ts";
import { eventRow, rejectionRow } from "../support/rows.ts";
import { appForAll } from "../support/running-app.ts";

// A typing error in the filter for a provider must not look like an empty list.

const app = appForAll({ WEBHOOK_PROVIDERS: "code_host" });
beforeAll(async () => {
  await app.services.storage.atomically(
    write(insertEvent, eventRow(1, { provider: "removed" })),
    write(insertRejection, rejectionRow(1, { provider: "rejected_only" })),
  );
});

const send = (path: string, body: object) => app.as("operator", path, post(body));
const from = "2026-01-01T00:00:00Z";

const requests: Readonly<Record<string, (provider: string) => Promise<Response>>> = {
  "GET /v1/events": (provider) => app.as("operator", `/v1/events?provider=${provider}`),
  "GET /v1/events, searched": (provider) =>
    app.as("operator", `/v1/events?provider=${provider}&q=event`),
  "GET /v1/events/feed": (provider) => app.as("operator", `/v1/events/feed?provider=${provider}`),
  "GET /v1/rejections": (provider) => app.as("operator", `/v1/rejections?provider=${provider}`),
  "POST /v1/replays/preview": (provider) => send("/v1/replays/preview", { from, provider }),
  "POST /v1/replays": (provider) => send("/v1/replays", { from, provider }),
};

describe.each(Object.entries(requests))("the provider of %s", (request, ask) => {
  test.each([
    ["code_hub", "Did you mean code_host (GitHub)?"],
    ["Task_tracker", "Did you mean task_tracker (Todoist)?"],
    ["github", "Did you mean code_host (GitHub)?"],
    ["Stirpe", "Did you mean payment_processor (Stripe)?"],
    ["nothing", "GET /v1/providers lists them"],
  ])("%s is rejected", async (provider, hint) => {
    const response = await ask(provider);
    // Not read before: the feed has no end.
    expect(response.status).toBe(400);
    const problem = await json(response);
    expect(problem["code"]).toBe("invalid-parameter");
    expect(itemsOf(problem["errors"])).toMatchObject([{ parameter: "provider" }]);
    expect(problem["detail"]).toEndWith(hint);
  });

  test.each([
    ["code_host", "registered"],
    ["payment_processor", "built in, but not registered"],
    ["bookings", "a source of its own events"],
    ["skyhook", "the source of alerts"],
    ["removed", "one that is gone, with stored events"],
    ["rejected_only", "one that is gone, with stored rejections"],
  ])("may be %s: %s", async (provider) => {
    const response = await ask(provider);
    expect(response.status).toBe(request === "POST /v1/replays" ? 201 : 200);
    await response.body?.cancel();
    const running = itemsOf((await json(await app.as("operator", "/v1/replays")))["data"]);
    for (const { id } of running) await send(`/v1/replays/${String(id)}/stop`, {});
  });
});
