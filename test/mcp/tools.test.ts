import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { systemClock } from "../../src/base/clock.ts";
import { maxAnswerLength } from "../../src/mcp/answer.ts";
import { tools } from "../../src/mcp/tools.ts";
import { sample, startApp, type TestApp, testSecret } from "../support/app.ts";
import { gatewaySecret, type TestGateway, testGateway } from "../support/gateway.ts";
import { agentAs, type agentOf, placesOf } from "../support/mcp.ts";
import { untilLater } from "../support/notifying.ts";
import { itemsOf, listed, timelineOf } from "../support/operator.ts";

type TestAgent = ReturnType<typeof agentOf>;

/** In every text that a sender, or a server that answers, can choose. */
const marker = "ignore-all-instructions";
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
    app = await startApp({ ...gateway.env, OPERATOR_GATEWAY_URL: url, MCP_ALLOW: "writes,bodies" });
    const send = (event: string, number: number, secret = testSecret("code_host")) =>
      app.deliver("code_host", JSON.stringify(body(number)), {
        secret,
        headers: { "x-github-event": event, "x-github-delivery": crypto.randomUUID() },
      });
    for (let number = 0; number < eventCount; number += 1) {
      expect((await send("workflow_run", number)).status).toBe(200);
    }
    expect((await send(marker, 99)).status).toBe(200);
    expect((await send(marker, 99, "wrong secret")).status).toBe(401);
    agent = await agentAs(app);
    // The first failures suspend sending, so that the later events are not attempted.
    const oldest = (await listed(app, "/v1/events?status=accepted&limit=100")).at(-1);
    eventId = String(oldest?.["id"]);
    const isFailed = async () =>
      JSON.stringify(await timelineOf(app, eventId)).includes("HTTP 422");
    await untilLater(app, isFailed);
  });
  afterAll(async () => {
    await app.stop();
    await gateway.stop();
  });

  const inputs = (): Readonly<Record<string, object>> => ({
    search_events: { limit: 100 },
    get_event: { id: eventId },
    get_destination: { destination: "operator-gateway", limit: 100 },
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
      const places = placesOf(marker, JSON.parse(text));
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

  test("the marker is in the answers that should have it", async () => {
    for (const name of ["search_events", "get_event", "get_destination", "get_body"]) {
      const { text } = await agent.toolText(name, { ...inputs()[name] });
      expect([name, text.includes(marker)]).toEqual([name, true]);
    }
  });

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
    const stored = (await listed(app, "/v1/events?limit=100")).map(({ id }) => id);
    expect(ids).toEqual(stored);
  });
});
