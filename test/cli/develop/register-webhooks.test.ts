import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { secretStore } from "../../../src/config/secrets.ts";
import { commandLine } from "../../support/cli.ts";
import { type FakeGithub, fakeGithub } from "../../support/github.ts";
import { type FakeStripe, fakeStripe } from "../../support/stripe.ts";

const { skyhook, newFolder } = commandLine();
const base = "https://hooks.example.com";
const storeIn = (cwd: string) => secretStore({}, join(cwd, "secrets"));

describe("skyhook register code_host", () => {
  let github: FakeGithub;
  afterEach(() => github.stop());

  const register = (cwd: string, env: Record<string, string> = {}, ...more: string[]) =>
    skyhook(["register", "code_host", "--repo", "acme/web", "--url", base, ...more], {
      cwd,
      env: { CODE_HOST_API_URL: github.url, CODE_HOST_API_TOKEN: github.token, ...env },
    });
  const url = `${base}/webhooks/code_host`;

  test("creates the webhook with a new secret, and stores it without printing it", async () => {
    github = fakeGithub();
    const cwd = newFolder();
    const { out, err, code } = await register(cwd);
    expect([err, code]).toEqual(["", 0]);
    const secret = storeIn(cwd).webhookSecrets("code_host")?.current ?? "";
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(join(cwd, "secrets/code_host_webhook_secret")).mode & 0o777).toBe(0o600);
    expect(github.hooks).toMatchObject([
      {
        active: true,
        events: ["workflow_run", "package"],
        config: { url, content_type: "json", insecure_ssl: "0", secret },
      },
    ]);
    expect(out).toStartWith("registered 100\n");
    expect(out).toContain("CODE_HOST_HOOK=repos/acme/web/hooks/100\n");
    expect(out).not.toContain(secret);
  });

  test("updates the webhook with this URL, on any page, and keeps its other events", async () => {
    github = fakeGithub();
    for (let id = 1; id <= 130; id += 1) {
      const config = {
        url: id === 120 ? url : `https://other.example/${id}`,
        content_type: "form",
      };
      github.hooks.push({ id, name: "web", active: id !== 120, events: ["push"], config });
    }
    const cwd = newFolder();
    const secret = "a secret that is stored already";
    storeIn(cwd).createWebhookSecret("code_host", secret);
    const first = await register(cwd);
    expect(first).toMatchObject({ err: "", code: 0 });
    expect(first.out).toStartWith("updated 120\n");
    const updated = github.hooks.find(({ id }) => id === 120);
    expect(updated).toMatchObject({
      active: true,
      events: ["push", "workflow_run", "package"],
      config: { url, content_type: "json", secret },
    });
    expect((await register(cwd)).out).toBe(first.out);
    expect(github.hooks).toHaveLength(130);
    expect(github.hooks.find(({ id }) => id === 120)).toEqual(updated!);
  });

  test("creates an organization's webhook", async () => {
    github = fakeGithub({ hook: "orgs/acme/hooks/7" });
    const { out } = await skyhook(
      ["register", "code_host", "--org", "acme", "--url", url, "--api-url", github.url],
      { env: { CODE_HOST_API_TOKEN: github.token } },
    );
    expect(out).toContain("CODE_HOST_HOOK=orgs/acme/hooks/100\n");
    expect(github.hooks).toHaveLength(1);
  });

  test("--dry-run shows the request without secret and token, and sends nothing", async () => {
    github = fakeGithub();
    const cwd = newFolder();
    const { out, code } = await register(cwd, { CODE_HOST_API_TOKEN: "" }, "--dry-run");
    expect(out).toStartWith(
      `POST ${github.url}/repos/acme/web/hooks\nAuthorization: Bearer <token>\n`,
    );
    expect(out).toContain('"secret":"<secret>"');
    expect(code).toBe(0);
    expect(github.requests).toEqual([]);
    expect(existsSync(join(cwd, "secrets"))).toBe(false);
    const whole = await skyhook([
      "register",
      "code_host",
      "--repo",
      "a/b",
      "--url",
      base,
      "--dry-run",
    ]);
    expect(whole.out).toStartWith("POST https://api.github.com/repos/a/b/hooks\n");
  });

  test.each([
    [401, "Bad credentials", "Create a new token with the permission Webhooks: write"],
    [403, "Resource not accessible by personal access token", "Webhooks: write"],
    [404, "Not Found", "Check the name, and that the token has the permission Webhooks: write"],
    [422, "Validation Failed", "answers 422: Validation Failed"],
    [500, "oops", "answers 500"],
  ])("explains %i, and stores nothing", async (status, message, said) => {
    const headers = { "x-accepted-github-permissions": "repository_hooks=write" };
    github = fakeGithub({ answer: () => Response.json({ message }, { status, headers }) });
    const cwd = newFolder();
    const { out, err, code } = await register(cwd);
    expect([out, code]).toEqual(["", 1]);
    expect(err).toContain(said);
    if (status === 403) expect(err).toContain("repository_hooks=write");
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(err).not.toContain(github.token);
    expect(storeIn(cwd).webhookSecrets("code_host")).toBeNull();
  });

  test("uses the same secret again if the request that sent it failed", async () => {
    let isBroken = true;
    github = fakeGithub({
      answer: ({ method }) =>
        method === "POST" && isBroken ? new Response("oops", { status: 502 }) : undefined,
    });
    const cwd = newFolder();
    expect(await register(cwd)).toMatchObject({ code: 1 });
    const secret = storeIn(cwd).webhookSecrets("code_host")?.current;
    isBroken = false;
    expect(await register(cwd)).toMatchObject({ code: 0 });
    expect(github.hooks[0]?.config["secret"]).toBe(secret!);
  });

  test.each([
    [["--url", base], "Pass --repo OWNER/REPO, or --org ORG"],
    [["--url", base, "--repo", "a/b", "--org", "a"], "Pass --repo OWNER/REPO, or --org ORG"],
    [["--url", base, "--repo", "a"], "Write the repository as OWNER/REPO"],
    [["--url", base, "--repo", "a/.."], "Write the repository as OWNER/REPO"],
    [["--url", base, "--org", "a/b"], "Write the repository as OWNER/REPO"],
    [["--repo", "a/b"], "--url <url> is required"],
    [["--url", base, "--repo", "a/b"], "set CODE_HOST_API_TOKEN, or pass --token"],
  ])("refuses %j", async (args, said) => {
    github = fakeGithub();
    const { err, code } = await skyhook(["register", "code_host", ...args]);
    expect(err).toContain(said);
    expect(code).toBe(2);
  });
});

describe("skyhook register payment_processor", () => {
  let stripe: FakeStripe;
  afterEach(() => stripe.stop());

  const url = `${base}/webhooks/payment_processor`;
  const register = (cwd: string, ...more: string[]) =>
    skyhook(["register", "payment_processor", "--url", base, ...more], {
      cwd,
      env: {
        WEBHOOK_PROVIDERS: "payment_processor",
        PAYMENT_PROCESSOR_API_URL: stripe.url,
        PAYMENT_PROCESSOR_API_TOKEN: stripe.token,
      },
    });

  test("creates the endpoint, stores its secret, and updates it when it is run again", async () => {
    stripe = fakeStripe();
    const cwd = newFolder();
    const first = await register(cwd);
    expect(first).toMatchObject({ err: "", code: 0 });
    expect(first.out).toStartWith("registered we_0\n");
    const [made] = stripe.endpoints;
    expect(made).toMatchObject({ url, enabled_events: expect.arrayContaining(["invoice.paid"]) });
    expect(storeIn(cwd).webhookSecrets("payment_processor")?.current).toBe(made?.secret ?? "");
    expect(first.out).not.toContain("whsec_");

    const second = await register(cwd);
    expect(second).toMatchObject({ out: "updated we_0\n", err: "", code: 0 });
    expect(stripe.endpoints).toEqual(made === undefined ? [] : [made]);
  });

  test("finds the endpoint on a later page, keeps its events, and enables it", async () => {
    stripe = fakeStripe();
    for (let index = 0; index < 150; index += 1) {
      stripe.endpoints.push({
        id: `we_${index}`,
        url: index === 140 ? url : `https://other.example/${index}`,
        enabled_events: ["customer.created"],
        status: "disabled",
        secret: "whsec_of_another_time",
      });
    }
    const cwd = newFolder();
    const unknown = await register(cwd);
    expect(unknown.err).toContain("its secret is not stored: copy it from the dashboard");
    expect(unknown.code).toBe(1);
    storeIn(cwd).createWebhookSecret("payment_processor", "whsec_of_another_time");
    expect((await register(cwd)).out).toBe("updated we_140\n");
    expect(stripe.endpoints[140]).toMatchObject({
      status: "enabled",
      enabled_events: expect.arrayContaining(["customer.created", "invoice.paid"]),
    });
    expect(stripe.endpoints).toHaveLength(150);
  });

  test("--dry-run shows the request, and explains what a token needs otherwise", async () => {
    stripe = fakeStripe();
    const cwd = newFolder();
    const { out } = await register(cwd, "--dry-run");
    expect(out).toStartWith(`POST ${stripe.url}/v1/webhook_endpoints\n`);
    expect(out).toContain("enabled_events%5B%5D=invoice.paid");
    expect(stripe.requests).toEqual([]);
    const { err, code } = await register(cwd, "--token", "sk_wrong");
    expect(err).toContain("restricted key with Webhook Endpoints: write");
    expect(code).toBe(1);
  });
});
