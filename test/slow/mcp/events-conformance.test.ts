import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import {
  createMCPClient,
  experimental_createMCPEventWebhook,
  type Experimental_MCPEventStore,
  type Experimental_MCPEventSubscription,
} from "@ai-sdk/mcp";

import { signedSample } from "../../../src/inbound/providers/signed-sample.ts";
import { taskTracker } from "../../../src/inbound/providers/task_tracker.ts";
import { checks, type Subject } from "../../mcp/events/conformance.ts";
import { until } from "../../support/app.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

const { "task.completed": completed = () => ({ headers: {}, body: {} }) } = taskTracker.samples;
const secret = "a secret of thirty-two characters";

/** What the client keeps of its subscriptions. */
function subscriptionStore(): Experimental_MCPEventStore {
  const kept = new Map<string, Experimental_MCPEventSubscription>();
  return {
    get: async (key) => kept.get(key),
    getById: async (id) => kept.values().find((each) => each.id === id),
    async set(subscription) {
      kept.set(subscription.key, subscription);
    },
    async update(key, patch) {
      const known = kept.get(key);
      if (known !== undefined) kept.set(key, { ...known, ...patch });
    },
    async delete(key) {
      kept.delete(key);
    },
  };
}

describe("MCP Events", () => {
  const cwd = temporaryFolder();
  let server: RunningServer;
  let subject: Subject;
  beforeAll(async () => {
    const env = {
      DESTINATIONS_ALLOW_PRIVATE: "true",
      TASK_TRACKER_WEBHOOK_SECRET: secret,
      WEBHOOK_PROVIDERS: "task_tracker",
    };
    server = await startServer({ cwd, env });
    const { out } = await runSkyhook(
      ["token", "--email", "a@example.com", "--role", "operator"],
      server,
    );
    subject = {
      url: `${server.url}/mcp`,
      token: out.trim(),
      event: "task_tracker.task.completed",
      async trigger() {
        const { headers, bytes } = signedSample(
          taskTracker,
          completed,
          { secret },
          { id: crypto.randomUUID(), now: new Date() },
        );
        const init = { method: "POST", headers, body: bytes };
        const answer = await fetch(`${server.url}/webhooks/task_tracker`, init);
        expect(answer.status).toBe(200);
      },
    };
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    removeFolder(cwd);
  });

  test("the client of the AI SDK subscribes, verifies a delivery, refreshes and unsubscribes", async () => {
    const store = subscriptionStore();
    const events: unknown[] = [];
    const errors: unknown[] = [];
    const answer = experimental_createMCPEventWebhook({
      store,
      async onEvent({ event }) {
        events.push(event);
      },
      async onError(error) {
        errors.push(error);
      },
    });
    using callback = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    const client = await createMCPClient({
      transport: {
        type: "http",
        url: subject.url,
        headers: { authorization: `Bearer ${subject.token}` },
      },
      experimental_events: { store },
    });
    const { experimental_events: followed } = client;
    expect((await followed.list()).events.map(({ name }) => name)).toContain(subject.event);
    const url = `${callback.url.origin}/events`;
    const { id } = await followed.subscribe({
      name: subject.event,
      delivery: { mode: "webhook", url, allowInsecureLocalhost: true },
    });
    await subject.trigger();
    await until(() => events.length > 0);
    expect(events).toMatchObject([{ name: subject.event, data: { severity: "success" } }]);
    expect(await followed.refresh({ id })).toMatchObject({ id });
    await followed.unsubscribe({ id });
    expect(errors).toEqual([]);
    await client.close();
  });

  test.each(Object.entries(checks))("%s", (_, check) => check(subject), 60_000);
});
