import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { secretStore } from "../../../src/config/secrets.ts";
import { commandLine } from "../../support/cli.ts";

const { skyhook, newFolder } = commandLine();

describe("skyhook register", () => {
  const asked: { url: string; authorization: string | null; body: unknown }[] = [];
  let answer: () => Response = () => new Response();
  const platform = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const authorization = request.headers.get("authorization");
      asked.push({ url: pathname, authorization, body: await request.json() });
      return answer();
    },
  });
  afterAll(() => platform.stop(true));

  const api = platform.url.origin;
  const base = ["register", "deploy_platform", "--url", "https://hooks.example.com/", "--api-url"];
  const events = ["created", "succeeded", "error", "canceled"].map((what) => `deployment.${what}`);
  const url = "https://hooks.example.com/webhooks/deploy_platform";
  const register = (cwd: string, env: Record<string, string> = {}) =>
    skyhook([...base, api], { cwd, env: { DEPLOY_API_TOKEN: "tkn_1", ...env } });

  test("creates the webhook, stores its secret without printing it, and keeps the previous one", async () => {
    const cwd = newFolder();
    answer = () => Response.json({ id: "hook_1", secret: "first-secret-of-the-platform" });
    const first = await register(cwd);
    expect(asked.at(-1)).toEqual({
      url: "/v1/webhooks",
      authorization: "Bearer tkn_1",
      body: { url, events },
    });
    expect(first).toMatchObject({ err: "", code: 0 });
    expect(first.out).toContain("registered hook_1\n");
    expect(first.out).not.toContain("before");
    const store = secretStore({}, join(cwd, "secrets"));
    const file = join(cwd, "secrets/deploy_platform_webhook_secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    answer = () => Response.json({ id: "hook_2", secret: "second-secret-of-the-platform" });
    const before = asked.length;
    const overridden = await register(cwd, { DEPLOY_PLATFORM_WEBHOOK_SECRET: "set" });
    expect([overridden.code, asked.length]).toEqual([2, before]);
    expect(overridden.err).toContain("DEPLOY_PLATFORM_WEBHOOK_SECRET is set and overrides");
    const second = await register(cwd);
    expect(store.webhookSecrets("deploy_platform")).toEqual({
      current: "second-secret-of-the-platform",
      previous: "first-secret-of-the-platform",
    });
    expect(second.out).toContain("still accepted");
    for (const { out, err } of [first, second]) expect(out + err).not.toMatch(/-secret-of-|tkn_1/);
  });

  test("--dry-run shows the request without the token and sends nothing", async () => {
    const before = asked.length;
    const whole = ["register", "deploy_platform", "--url", url, "--api-url", api];
    const { out, code } = await skyhook([...whole, "--token", "tkn_2", "--dry-run"]);
    expect(out).toBe(
      `POST ${api}/v1/webhooks\nAuthorization: Bearer <token>\nContent-Type: application/json\n\n${JSON.stringify({ url, events })}\n`,
    );
    expect(code).toBe(0);
    const real = await skyhook(["register", "deploy_platform", "--url", url, "--dry-run"]);
    expect(real.out).toStartWith("POST https://api.vercel.com/v1/webhooks\n");
    expect(asked).toHaveLength(before);
  });

  test.each([
    [
      "401",
      () => Response.json({ error: { message: "Not authorized" } }, { status: 401 }),
      "rejects the token (401: Not authorized)",
    ],
    ["403", () => Response.json({}, { status: 403 }), "paid plan"],
    [
      "a redirect",
      () => Response.redirect("https://elsewhere.example/v1"),
      "https://elsewhere.example/v1: pass that",
    ],
    ["404", () => new Response("no such page", { status: 404 }), "404 (no such page)"],
    ["500", () => new Response("broken\u001b[31m", { status: 500 }), "answers 500: broken"],
    ["no JSON", () => new Response("<html>"), "not a JSON object"],
    ["no secret", () => Response.json({ id: "hook_3" }), "has no secret"],
  ])("explains %s, and stores nothing", async (_, respond, said) => {
    const cwd = newFolder();
    answer = respond;
    const { out, err, code } = await register(cwd);
    expect(err).toContain(said);
    expect(err).not.toContain("tkn_1");
    expect(err).not.toContain("\u001b");
    expect([out, code]).toEqual(["", 1]);
    expect(existsSync(join(cwd, "secrets/deploy_platform_webhook_secret"))).toBe(false);
  });

  test("sends no request without a token, a writable folder, a safe URL or an API [API7-5]", async () => {
    const before = asked.length;
    const cwd = newFolder();
    await Bun.write(join(cwd, "secrets"), "a file where the folder should be");
    const by = (...args: string[]) => skyhook(["register", ...args, "--url", "https://h.example"]);
    const [tokenless, folderless, plain, manual, strange] = await Promise.all([
      skyhook([...base, api]),
      register(cwd),
      by("deploy_platform", "--api-url", "http://api.example"),
      by("code_host", "--repo", "acme/web", "--api-url", "http://api.example"),
      skyhook([...base, api, "--token", "tkn\n1"]),
    ]);
    expect(tokenless).toMatchObject({ err: expect.stringContaining("DEPLOY_API_TOKEN"), code: 2 });
    expect(folderless).toMatchObject({
      err: expect.stringContaining("nothing was registered"),
      code: 1,
    });
    expect(plain).toMatchObject({ err: expect.stringContaining("must be https"), code: 2 });
    expect(manual).toMatchObject({ err: expect.stringContaining("must be https"), code: 2 });
    expect(strange).toMatchObject({
      err: expect.stringContaining("contains invalid characters"),
      code: 2,
    });
    expect(asked).toHaveLength(before);
  });

  test("reports a provider without an API before a missing --url", async () => {
    const [inbox, tracker, nowhere] = await Promise.all([
      skyhook(["register", "shared_inbox"]),
      skyhook(["register", "task_tracker"]),
      skyhook(["register", "deploy_platform"]),
    ]);
    expect(inbox.err).toContain('Use a rule with the action "trigger a webhook"');
    expect(tracker.err).toContain("has no API for this");
    expect(nowhere.err).toContain("--url <url> is required");
    for (const { code } of [inbox, tracker, nowhere]) expect(code).toBe(2);
  });
});
