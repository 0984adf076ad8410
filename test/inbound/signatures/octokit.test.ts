import { describe, expect, test } from "bun:test";

import examples from "@octokit/webhooks-examples";
import { sign } from "@octokit/webhooks-methods";

import { json, startApp, testSecret } from "../../support/app.ts";

const accepted = new Set(["workflow_run completed", "package published"]);

describe("real GitHub payloads, signed by @octokit/webhooks-methods", () => {
  test("all return 200; the two listed events are accepted, all others ignored", async () => {
    await using app = await startApp();
    const unexpected: string[] = [];
    let count = 0;
    for (const { name, examples: payloads } of examples) {
      for (const payload of payloads) {
        count += 1;
        const body = JSON.stringify({ ...payload, delivery: count });
        const response = await app.fetch("/webhooks/code_host", {
          method: "POST",
          body,
          headers: {
            "content-type": "application/json",
            "user-agent": "GitHub-Hookshot/044aadd",
            "x-github-event": name,
            "x-github-delivery": crypto.randomUUID(),
            "x-hub-signature-256": await sign(testSecret("code_host"), body),
          },
        });
        const action = "action" in payload ? String(payload.action) : "";
        const expected = accepted.has(`${name} ${action}`) ? "accepted" : "ignored";
        const { status } = await json(response);
        if (response.status !== 200 || status !== expected) {
          unexpected.push(`${name} ${action}: ${response.status} ${String(status)}`);
        }
      }
    }
    expect(unexpected).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });
});
