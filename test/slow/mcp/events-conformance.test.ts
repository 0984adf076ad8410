import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { signedSample } from "../../../src/inbound/providers/signed-sample.ts";
import { taskTracker } from "../../../src/inbound/providers/task_tracker.ts";
import { checks, type Subject } from "../../mcp/events/conformance.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

const { "task.completed": completed = () => ({ headers: {}, body: {} }) } = taskTracker.samples;
const secret = "a secret of thirty-two characters";

describe("MCP Events", () => {
  const cwd = temporaryFolder();
  let server: RunningServer;
  let subject: Subject;
  beforeAll(async () => {
    const env = {
      DESTINATIONS_ALLOW_PRIVATE: "operators",
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

  test.each(Object.entries(checks))("%s", (_, check) => check(subject), 60_000);
});
