import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { systemClock } from "../../src/base/clock.ts";
import { maxAnswerLength } from "../../src/mcp/answer.ts";
import { tools } from "../../src/mcp/tools/tools.ts";
import { json, jsonWith, sample, startApp, type TestApp, testSecret } from "../support/app.ts";
import { addFlight, bookingBody, passenger, post } from "../support/flights.ts";
import { gatewaySecret, type TestGateway, testGateway } from "../support/gateway.ts";
import { agentAs, type agentOf, pathsTo } from "../support/mcp.ts";
import { untilLater } from "../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../support/operator.ts";

type TestAgent = ReturnType<typeof agentOf>;

/** In every text that a sender, or a server that answers, can choose. */
const marker = "ignore-all-commands";
const eventCount = 60;

function body(number: number) {
  const { body: sent } = sample("code_host", "workflow_run.completed", systemClock);
  const run: Readonly<Record<string, unknown>> = Object(sent["workflow_run"]);
  const texts = { name: marker, display_title: marker.repeat(20), head_branch: marker };
  const link = `https://example.com/${marker}?token=${marker}`;
  const workflow = { ...run, ...texts, id: number, conclusion: "failure", html_url: link };
  return { ...sent, workflow_run: workflow, sender: { login: marker } };
}

describe("tools of agents", () => {
  let gateway: TestGateway;
  let app: TestApp;
  let agent: TestAgent;
  let eventId = "";
  beforeAll(async () => {
    gateway = testGateway(() => new Response(marker, { status: 422, statusText: marker }));
    const url = `${gateway.env.OPERATOR_GATEWAY_URL}/hooks/private-path?key=private-query`;
    app = await startApp({
      ...gateway.env,
      OPERATOR_GATEWAY_URL: url,
      MCP_ALLOW: "writes,bodies",
      DESTINATIONS_ALLOW_PRIVATE: "true",
    });
    const unsigned = { method: "POST", headers: { [marker]: marker }, body: "{}" };
    expect((await app.fetch("/webhooks/code_host", unsigned)).status).toBe(401);
    await app.fetch(`/webhooks/${marker}`, { method: "POST" });
    const send = (event: string, sent: object, secret = testSecret("code_host")) =>
      app.deliver("code_host", JSON.stringify(sent), {
        secret,
        headers: { "x-github-event": event, "x-github-delivery": crypto.randomUUID() },
      });
    for (let number = 0; number < eventCount; number += 1) {
      expect((await send("workflow_run", body(number))).status).toBe(200);
    }
    expect(await json(await send(marker, { zen: marker }))).toMatchObject({ status: "ignored" });
    expect((await send(marker, body(99), "wrong secret")).status).toBe(401);
    const { id: flightId } = await addFlight(app);
    const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(flightId)));
    expect(booked.status).toBe(201);
    agent = await agentAs(app);
    // The first failures suspend sending, so that the later events are not attempted.
    const oldest = (await listed(app, "/v1/events?status=accepted&limit=100")).at(-1);
    eventId = String(oldest?.["id"]);
    const isFailed = async () =>
      JSON.stringify(await timelineOf(app, eventId)).includes("HTTP 422");
    await untilLater(app, isFailed);
    for (const [role, name] of [
      ["admin", "of-operators"],
      ["user", "of-a-user"],
    ] as const) {
      const unused = "http://127.0.0.1:1099/private-path?key=private-query";
      const made = await app.as(
        role,
        "/v1/destinations",
        post({ name, format: "json", url: unused }),
      );
      expect(made.status).toBe(201);
    }
  });
  afterAll(async () => {
    await app.stop();
    await gateway.stop();
  });

  const inputs = (): Readonly<Record<string, object>> => ({
    search_events: { limit: 100 },
    get_event: { id: eventId },
    get_destination: { destination: "operator-gateway", status: "retrying" },
    preview_replay: { from: "2020-01-01T00:00:00Z" },
    search_docs: { q: "secret" },
    get_body: { id: eventId },
  });
  const readers = tools.filter(({ needs }) => needs !== "writes").map(({ name }) => name);

  test.each(readers)(
    "%s shows what others wrote only under `untrusted`, and no secret",
    async (name) => {
      const { text, isError } = await agent.toolText(name, { ...inputs()[name] });
      expect(isError).toBe(false);
      expect(text.length).toBeLessThanOrEqual(maxAnswerLength);
      const places = pathsTo(marker, JSON.parse(text));
      expect(places.filter((place) => !place.split(".").includes("untrusted"))).toEqual([]);
      for (const hidden of [
        testSecret("code_host"),
        gatewaySecret,
        "private-path",
        "private-query",
      ]) {
        expect([hidden, text.includes(hidden)]).toEqual([hidden, false]);
      }
    },
  );

  test("destinations are those of operators, each with its origin only", async () => {
    const { items } = await agent.tool("list_destinations");
    expect(itemsOf(items).map(({ name, url }) => [name, url])).toEqual(
      expect.arrayContaining([
        ["of-operators", "http://127.0.0.1:1099"],
        ["operator-gateway", new URL(gateway.url).origin],
      ]),
    );
    const { destinations } = await agent.tool("overview");
    for (const found of [items, destinations].map(itemsOf)) {
      expect(found.map(({ name }) => name)).not.toContain("of-a-user");
    }
  });

  test("the type that a sender named is data, and links end at their origin", async () => {
    const { items } = await agent.tool("search_events", { status: "ignored" });
    const [ignored] = itemsOf(items);
    expect(ignored).not.toHaveProperty("type");
    expect(ignored).toMatchObject({ untrusted: { type: marker } });
    const event = await agent.tool("get_event", { id: eventId });
    expect(event).toMatchObject({ untrusted: { url: "https://example.com" } });
  });

  test("the status of one provider is that of one", async () => {
    const { providers } = await agent.tool("provider_status", { provider: "code_host" });
    expect(itemsOf(providers)).toMatchObject([{ provider: "code_host" }]);
  });

  test("names of headers, which need no signature, are data", async () => {
    const { items } = await agent.tool("explain_rejection");
    const unsigned = itemsOf(items).find(({ cause }) => cause === "missing-signature");
    const answer = await agent.tool("explain_rejection", { id: unsigned?.["id"] });
    expect(pathsTo(marker, answer)).toEqual(["untrusted.detail"]);
  });

  test("the path of no provider is data", async () => {
    const { items } = await agent.tool("explain_rejection", { reason: "unknown-provider" });
    const [unknown] = itemsOf(items);
    expect(pathsTo(marker, unknown)).toEqual(["untrusted.type"]);
    const answer = await agent.tool("explain_rejection", { id: unknown?.["id"] });
    expect(pathsTo(marker, answer)).toEqual(["untrusted.detail"]);
  });

  test("the marker is in the answers that should have it", async () => {
    for (const name of ["search_events", "get_event", "get_destination", "get_body"]) {
      const { text } = await agent.toolText(name, { ...inputs()[name] });
      expect([name, text.includes(marker)]).toEqual([name, true]);
    }
    for (const name of ["get_event", "get_destination"]) {
      const { text } = await agent.toolText(name, { ...inputs()[name] });
      const places = pathsTo(marker, JSON.parse(text));
      expect(places.filter((place) => place.endsWith("untrusted.lastError"))).not.toEqual([]);
    }
  });

  test("bookings are not seen, whatever is asked", async () => {
    const [booking] = await listed(app, "/v1/events?provider=bookings");
    expect(booking).toBeDefined();
    const { name, email, passportNumber }: Readonly<Record<string, unknown>> = passenger();
    // The sample of a webhook has an address like that of the passenger.
    for (const tool of readers.filter((each) => each !== "get_body")) {
      const { text } = await agent.toolText(tool, { ...inputs()[tool] });
      const shown = ["booking.", name, email, passportNumber].filter((each) =>
        text.includes(String(each)),
      );
      expect([tool, shown]).toEqual([tool, []]);
    }
    for (const tool of ["get_event", "get_body"]) {
      const answer = await agent.toolText(tool, { id: booking?.["id"] });
      expect(answer.text).toStartWith("not-found: Agents do not see");
    }
  });

  /** Stores an event whose body has so many characters, and returns its id. */
  async function bodyOf(length: number): Promise<unknown> {
    const { headers, body: sent } = sample("task_tracker", "task.completed", app.clock);
    const padded = (padding: string) => JSON.stringify({ ...sent, padding });
    const text = padded("x".repeat(length - padded("").length));
    return (await jsonWith(await app.deliver("task_tracker", text, { headers }), 200))["id"];
  }

  test("a body is read in parts", async () => {
    const id = await bodyOf(16_000);
    const parts: string[] = [];
    let offset: unknown = 0;
    while (offset !== undefined) {
      const part = await agent.tool("get_body", { id, offset });
      parts.push(String(Object(part["untrusted"])["body"]));
      offset = part["nextOffset"];
    }
    expect(parts.map(({ length }) => length)).toEqual([8_000, 8_000]);
    const { body: whole } = await json(await app.as("operator", `/v1/events/${String(id)}`));
    expect(parts.join("")).toBe(String(whole));
    const [entry] = await listed(app, "/v1/audit?action=event.revealed", "admin");
    expect(entry).toMatchObject({ subject: id });
  });

  test("a body over 256 KiB is not read", async () => {
    const read = async (length: number) => agent.toolText("get_body", { id: await bodyOf(length) });
    expect((await read(262_144)).isError).toBe(false);
    expect((await read(262_145)).text).toBe(
      "body-too-large: Agents read bodies of at most 262144 bytes",
    );
  });

  test("a replay needs the count of its preview", async () => {
    const filters = { provider: "code_host", from: "2020-01-01T00:00:00Z" };
    const { total } = await agent.tool("preview_replay", filters);
    expect(total).toBe(eventCount + 1);
    const stale = await agent.toolText("start_replay", { filters, expectedTotal: eventCount });
    expect(stale).toEqual({
      text: `bad-request: ${eventCount + 1} events match now, not ${eventCount}. Call preview_replay again.`,
      isError: true,
    });
    const started = await agent.tool("start_replay", { filters, expectedTotal: total });
    expect(started).toMatchObject({ status: "running", total });
    const { id } = started;
    expect(await agent.tool("get_replay", { id })).toMatchObject({
      replay: { id, total, failed: 0 },
      failures: { items: [] },
    });
    const { items } = await agent.tool("get_replay", {});
    expect(itemsOf(items)).toContainEqual(expect.objectContaining({ id, total }));
  });

  test("an issue is muted for a time, and what did not fail for good is not sent again", async () => {
    const { issues } = await agent.tool("list_issues");
    const [{ id } = {}] = itemsOf(issues);
    const mutedUntil = new Date(app.clock.now() + 86_400_000).toISOString();
    expect(await agent.tool("mute_issue", { id, until: mutedUntil })).toMatchObject({
      id,
      mutedUntil,
    });
    const late = new Date(app.clock.now() + 40 * 86_400_000).toISOString();
    expect((await agent.toolText("mute_issue", { id, until: late })).text).toStartWith(
      "validation-failed",
    );
    expect((await agent.toolText("retry_dead", { id: "iss_0" })).text).toStartWith("not-found");
  });

  test("a test of a destination returns its answer as data", async () => {
    const answer = await agent.tool("send_test", { destination: "operator-gateway" });
    expect(answer).toMatchObject({
      delivered: false,
      responseStatus: 422,
      untrusted: { error: `HTTP 422: ${marker}` },
    });
    expect(gateway.received.at(-1)?.body).toContain("destination.test");
  });

  test.each(["list_destinations", "explain_rejection"])(
    "%s has no cursor at its end",
    async (name) => expect(await agent.tool(name)).not.toHaveProperty("nextCursor"),
  );

  test("a cursor continues a list that was cut, without a gap or a repeat", async () => {
    const ids: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await agent.tool("search_events", {
        limit: 100,
        ...(cursor !== undefined && { cursor }),
      });
      ids.push(...itemsOf(page["items"]).map(({ id }) => id));
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    const stored = await listed(app, "/v1/events?limit=100");
    const visible = stored.filter(({ provider }) => provider !== "bookings");
    expect(visible.length).toBeLessThan(stored.length);
    expect(ids).toEqual(visible.map(({ id }) => id));
  });
});
