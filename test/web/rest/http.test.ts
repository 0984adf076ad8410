import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import manifest from "../../../package.json" with { type: "json" };
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { problems } from "../../../src/web/problems.ts";
import { json, startApp } from "../../support/app.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();

describe("GET /", () => {
  test("describes the service and lists the registered providers", async () => {
    expect(await json(await app.fetch("/"))).toEqual({
      service: "skyhook",
      version: manifest.version,
      apiVersion: "1.0.0",
      status: "ok",
      uptimeSeconds: expect.any(Number),
      webhooks: {
        endpoint: "/webhooks/:provider",
        providers: catalogue.map(({ id }) => id),
      },
    });
  });
});

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

describe("GET / for browsers", () => {
  test.each([browser, "text/html", "TEXT/HTML;q=0.9, application/json;q=0.8"])(
    "is a page with links for Accept: %s",
    async (accept) => {
      const answer = await app.fetch("/", { headers: { accept } });
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("vary")).toBe("Accept, Accept-Encoding, Origin");
      expect(answer.headers.get("content-security-policy")).toContain("script-src 'self'");
      const text = await answer.text();
      const links = Array.from(text.matchAll(/href="([^"]+)"/g), ([, link = ""]) => link);
      expect(links).toContainValues(["console", "swagger", "graphql", "docs"]);
      expect(text).toContain("<code>/webhooks/code_host</code>");
      for (const link of links.filter((each) => !each.startsWith("data:image/svg+xml,"))) {
        const { status } = await app.fetch(`/${link}`, { headers: { accept: browser } });
        expect([link, status]).toEqual([link, 200]);
      }
    },
  );

  test.each([
    null,
    "*/*",
    "application/json",
    "text/*",
    "text/plain, */*",
    "text/html;q=0",
    "application/json, text/html;q=0.9",
    "application/vnd.text/html",
  ])("stays JSON for Accept: %s", async (accept) => {
    const request = new Request("http://localhost/", {
      headers: accept === null ? {} : { accept },
    });
    const answer = await app.app.handle(request);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(answer.headers.get("vary")).toBe("Accept");
    expect((await json(answer))["service"]).toBe("skyhook");
  });

  test("links to no playground where it is off", async () => {
    const plain = await startApp({ GRAPHIQL: "off" });
    const text = await (await plain.fetch("/", { headers: { accept: browser } })).text();
    await plain.stop();
    expect(text).not.toContain("graphql");
  });
});

describe("health", () => {
  test("/livez and /readyz are 200 while serving; /readyz is 503 while draining", async () => {
    expect((await app.fetch("/livez")).status).toBe(200);
    expect((await app.fetch("/readyz")).status).toBe(200);
    app.services.drain();
    expect((await app.fetch("/livez")).status).toBe(200);
    const draining = await app.fetch("/readyz");
    expect(draining.status).toBe(503);
    expect(draining.headers.get("retry-after")).toBe("5");
  });

  test("/readyz is 503 without a database", async () => {
    await app.services.storage.close();
    expect((await app.fetch("/readyz")).status).toBe(503);
  });

  test("/metrics counts deliveries by provider and verdict and times acknowledgements", async () => {
    await app.deliver("task_tracker", "{}");
    await app.deliver("task_tracker", "{}");
    await app.deliver("task_tracker", "not json");
    await app.deliver("task_tracker", "{}", { secret: "wrong" });
    await app.fetch("/webhooks/nobody", { method: "POST" });
    const text = await (await app.fetch("/metrics")).text();
    for (const [provider, verdict] of [
      ["task_tracker", "ignored"],
      ["task_tracker", "duplicate"],
      ["task_tracker", "unreadable"],
      ["task_tracker", "rejected"],
      ["unknown", "rejected"],
    ]) {
      const line = `skyhook_webhook_receipts_total{provider="${provider}",verdict="${verdict}"} 1\n`;
      expect(text).toContain(line);
    }
    expect(text).toContain("skyhook_webhook_ack_seconds_count 2\n");
    expect(text).toContain('skyhook_outbox_notifications{status="dead"} 0\n');
  });
});

describe("request ids", () => {
  test.each(["abc", "A-z.0_9", "x".repeat(64)])("%s is adopted from the client", async (id) => {
    const response = await app.fetch("/livez", { headers: { "x-request-id": id } });
    expect(response.headers.get("x-request-id")).toBe(id);
  });

  test.each(["", "a b", "a/b", "ü", "x".repeat(65)])("%j is replaced by a new id", async (id) => {
    const response = await app.fetch("/nowhere", { headers: { "x-request-id": id } });
    const made = response.headers.get("x-request-id");
    expect(made).toMatch(/^req_[0-9a-f]{32}$/);
    expect(await json(response)).toMatchObject({
      requestId: made,
      instance: `urn:skyhook:request:${made}`,
    });
  });
});

describe("problems", () => {
  test("are application/problem+json with all their members", async () => {
    const response = await app.fetch("/nowhere", { headers: { "x-request-id": "r" } });
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await json(response)).toEqual({
      type: "/problems/not-found",
      title: "Not found",
      status: 404,
      detail: "This path does not exist",
      instance: "urn:skyhook:request:r",
      code: "not-found",
      requestId: "r",
    });
  });

  test.each(Object.entries(problems))(
    "%s has a page at the URL in its type",
    async (code, problem) => {
      const page = await app.fetch(`/problems/${code}`);
      expect(page.status).toBe(200);
      expect(page.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      const text = await page.text();
      expect(text).toContain(problem.title);
      expect(text).toContain(String(problem.status));
    },
  );

  test("have an HTML page for browsers, with escaped text", async () => {
    const page = await app.fetch("/problems/authentication-required", {
      headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("vary")).toBe("Accept, Origin");
    const text = await page.text();
    expect(text).toContain("<code>Authorization: Bearer &lt;token&gt;</code>");
    expect(text).not.toContain("<token>");
    expect(text).not.toMatch(/<script|<style|style=/);
  });

  test("list only codes that the program uses", async () => {
    const source = join(import.meta.dir, "../../../src");
    const tables = ["base/errors.ts", "web/errors.ts"];
    const files = [...new Bun.Glob("**/*.ts").scanSync(source)].filter(
      (file) => !tables.includes(file),
    );
    const texts = await Promise.all(files.map((file) => Bun.file(join(source, file)).text()));
    const all = texts.join("");
    expect(Object.keys(problems).filter((code) => !all.includes(`"${code}"`))).toEqual([]);
  });

  test("have no page for unknown codes", async () => {
    for (const code of ["nonsense", "toString", "__proto__"]) {
      expect((await app.fetch(`/problems/${code}`)).status).toBe(404);
    }
  });

  test.each([
    ["POST", "/", "GET, HEAD"],
    ["DELETE", "/v1/events", "GET, HEAD"],
    ["PUT", "/v1/events/evt_1", "GET, HEAD"],
    ["GET", "/v1/events/evt_1/replay", "POST"],
    ["PURGE", "/livez", "GET, HEAD"],
  ])("%s %s: 405 with Allow: %s", async (method, path, allow) => {
    const response = await app.fetch(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allow);
    expect(await json(response)).toMatchObject({ code: "method-not-allowed" });
  });

  test.each(["/v1/events/", "/V1/events", "//", "/webhooks", "/webhooks/", "/webhooks/a/b"])(
    "%s is 404: paths must match exactly",
    async (path) => {
      expect((await app.fetch(path)).status).toBe(404);
    },
  );

  test("HEAD returns the response to GET without its body", async () => {
    const response = await app.fetch("/livez", { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });

  test("of the server reveal no details [API8-9]", async () => {
    const broken = await startApp();
    const all = () => Promise.reject(new Error("no such table in /data/skyhook.db"));
    Object.assign(broken.services.storage, { all });
    const response = await broken.as("operator", "/v1/events");
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/no such|skyhook\.db|stack|\.ts/i);
  });
});
