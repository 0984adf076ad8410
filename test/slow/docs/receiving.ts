import { expect } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../../../src/base/clock.ts";
import { at } from "../../../src/base/payload.ts";
import { outputOf } from "../../docs/markdown.ts";
import { testSecret } from "../../support/app.ts";
import { fakeGithub } from "../../support/github.ts";
import { authorization, deliverTo } from "../../support/load.ts";
import { ended } from "../../support/program.ts";
import { isLost, settingsOf, workflowRun } from "../../support/reconcile.ts";

import { done, follow, type Machine, type Trials } from "./machine.ts";

/** A secret as a service shows it. */
const secret = "8f742231b10e8888abcd99yyyzzz85a5\n";
const tampered = "skyhook send code_host workflow_run.completed --tamper signature || true\n";

/** The commands of the pages about receiving webhooks. */
export const receiving: Trials = {
  async "docs/webhooks.md run: connect"({ shell }, code) {
    expect(await done(shell(code, secret))).toMatch(outputOf("docs/webhooks.md", "run: connect"));
  },

  async "docs/webhooks.md run: register"({ shell, taken, folder }, code) {
    rmSync(join(folder, "secrets/code_host_webhook_secret"));
    const github = fakeGithub();
    taken.ends.push(() => github.stop());
    const out = await done(
      shell(code.replace("github_pat_…", github.token), "", { CODE_HOST_API_URL: github.url }),
    );
    expect(out).toMatch(outputOf("docs/webhooks.md", "run: register"));
    const url = "https://hooks.example.com/webhooks/code_host";
    expect(github.hooks).toMatchObject([{ config: { url } }]);
  },

  async "docs/webhooks.md run: rejections"({ shell }, code) {
    await done(shell(tampered));
    expect(await done(shell(code))).toMatch(outputOf("docs/webhooks.md", "run: rejections"));
  },

  async "docs/webhooks.md run: rejections all"({ shell, server }, code) {
    await fetch(`${server.url}/webhooks/githbu`, { method: "POST", body: "{}" });
    expect(await done(shell(code))).toMatch(/ unknown +\/webhooks\/githbu +unknown-provider /);
  },

  async "docs/webhooks.md run: rejection"({ shell }, code) {
    await done(shell(tampered));
    const [id = ""] = /rej_\w+/.exec(await done(shell("skyhook rejections"))) ?? [];
    const out = await done(shell(code.replace(/rej_\w+/, id)));
    expect(out).toMatch(outputOf("docs/webhooks.md", "run: rejection"));
  },

  async "docs/webhooks.md run: rejections-api"({ shell }, code) {
    await done(shell(tampered));
    const answer: unknown = JSON.parse(await done(shell(code)));
    expect(at(answer, "data")).toMatchObject([{ reason: "wrong-signature", cause: "unknown" }]);
  },

  async "docs/webhooks.md run: events"({ shell }, code) {
    await done(shell("skyhook send deploy_platform deploy.error"));
    // The index of the words follows a moment later.
    await printed({ shell }, code, /^received .*^2\S+ .* deploy\.error /ms);
  },

  async "docs/webhooks.md run: replay"({ shell }, code) {
    expect(await done(shell(code))).toStartWith("finished: 0 of 0 events\n");
  },

  async "docs/webhooks.md run: reconcile"({ shell, server, taken }, code) {
    const github = fakeGithub();
    taken.ends.push(() => github.stop());
    const arrives = async (body: string, headers: Record<string, string>) =>
      (await fetch(`${server.url}/webhooks/code_host`, { method: "POST", body, headers })).status;
    await done(shell("skyhook secrets set github", testSecret("code_host")));
    const clocked = { clock: systemClock };
    expect(await github.deliver(workflowRun(clocked), arrives)).toMatchObject({ statusCode: 200 });
    await github.deliver(workflowRun(clocked), isLost);
    const out = await done(shell(code, "", settingsOf(github)));
    expect(out).toMatch(outputOf("docs/webhooks.md", "run: reconcile"));
  },

  async "docs/providers.md run: add"({ shell, folder }, code) {
    expect(await done(shell(code, secret))).toMatch(outputOf("docs/providers.md", "run: add"));
    const file = readFileSync(join(folder, "providers/slack.yaml"), "utf8");
    expect(file).toContain("displayName: Slack");
  },

  async "docs/providers.md run: check"({ shell }, code) {
    await done(shell("skyhook provider add slack"));
    expect(await done(shell(code))).toMatch(outputOf("docs/providers.md", "run: check"));
  },

  async "docs/events.md run: types"({ shell }, code) {
    expect(await done(shell(code))).toMatch(outputOf("docs/events.md", "run: types"));
  },

  async "docs/events.md run: type"({ shell }, code) {
    const type = "code_host.workflow_run.completed";
    expect(JSON.parse(await done(shell(code)))).toMatchObject({
      name: type,
      data: expect.arrayContaining(["branch"]),
      json: { schema: { type: "object" }, example: { type } },
      cloudevents: { schema: {}, example: { type: `io.skyhook.${type}` } },
    });
  },

  async "docs/debugging.md run: listen"({ shell, server, taken }, code) {
    const local = taken.gateway();
    const token = (await authorization("operator")).replace("Bearer ", "");
    const own = code
      .replace("OPERATOR_TOKEN=…", `OPERATOR_TOKEN=${token}`)
      .replace("https://hooks.example.com", server.url)
      .replace("http://localhost:3000/webhooks", local.url);
    const child = shell(`exec 2>&1\n${own}`);
    const shown = follow(child.stdout, /200 \d+ ms code_host package\.published evt_/);
    await sendUntil({ shell }, "code_host package.published", shown);
    expect(await shown).toMatch(
      /^code_host: deliveries are signed with the secret \w+\nsending webhooks of /m,
    );
    expect(local.received[0]?.headers).toHaveProperty("x-codehost-signature-256");
  },

  async "docs/debugging.md run: tail"({ shell }, code) {
    const shown = follow(shell(code).stdout, /^[\d:]+ error code_host .* evt_\w+$/m);
    await sendUntil({ shell }, "code_host workflow_run.completed", shown);
  },

  async "docs/debugging.md run: feed"({ shell, server }, code) {
    expect(await deliverTo(server, 7)).toBe(200);
    const received = await follow(shell(code).stdout, /"type":"task\.completed"\}/);
    expect(received).toMatch(/^id: \d{16}\nevent: notification\ndata: \{"id":"ntf_/m);
  },

  async "docs/debugging.md run: sign"({ shell, folder }, code) {
    writeFileSync(join(folder, "body.json"), '{"action":"published"}');
    expect(await done(shell(code))).toMatch(outputOf("docs/debugging.md", "run: sign"));
  },

  async "docs/debugging.md run: replay-many"({ shell }, code) {
    expect(await done(shell(code))).toMatch(
      /^0 events would be replayed\n.*^finished: 0 of 0 events\n0 sent again, /ms,
    );
  },

  async "docs/moving-in.md run: move-in"({ shell, folder }, code) {
    const connection = {
      source: { name: "stripe", type: "STRIPE" },
      destination: { name: "Billing API", config: { url: "https://billing.example.com/stripe" } },
      rules: [{ type: "retry" }, { type: "filter", body: { type: "invoice.paid" } }],
    };
    writeFileSync(join(folder, "connections.json"), JSON.stringify({ models: [connection] }));
    const { out, err } = await ended(shell(code));
    expect(err + out).toMatch(outputOf("docs/moving-in.md", "run: move-in"));
  },

  async "docs/moving-in.md run: compare"({ shell }, code) {
    await done(shell("skyhook provider add shopify; skyhook secrets set shopify", secret));
    await done(shell("skyhook send shopify orders/paid"));
    expect(await done(shell(code))).toMatch(/^\s*1\n\s*0\n$/);
  },
};

/** Runs commands until they print it. */
async function printed({ shell }: Pick<Machine, "shell">, code: string, pattern: RegExp) {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const out = await done(shell(code));
    if (pattern.test(out)) return;
    if (performance.now() > deadline) expect(out).toMatch(pattern);
  }
}

/** Sends samples until one is shown: what comes before the connection is not. */
async function sendUntil({ shell }: Pick<Machine, "shell">, event: string, shown: Promise<string>) {
  const isShown = shown.then(() => true);
  while (!(await Promise.race([isShown, Bun.sleep(500).then(() => false)])))
    await done(shell(`skyhook send ${event}`));
}
