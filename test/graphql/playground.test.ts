import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createApp } from "../../src/app.ts";
import { startApp, type TestApp, until } from "../support/app.ts";
import { addFlight } from "../support/flights.ts";

const files = [
  "graphiql.js",
  "graphiql.css",
  "start.js",
  "editor.worker.js",
  "json.worker.js",
  "graphql.worker.js",
];
const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  for (const flightNumber of ["SK1", "SK2", "SK3"]) await addFlight(app, { flightNumber });
});
afterAll(() => app.stop());

describe("the playground", () => {
  test("is a small page that loads from this program alone, compressed, with validators", async () => {
    const page = await app.fetch("/graphql", { headers: html });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const text = await page.text();
    expect(text.length).toBeLessThan(2_000);
    expect(text).not.toMatch(/https?:\/\//);
    const found = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "");
    expect(found).toHaveLength(3);
    for (const path of files.map((file) => `/graphql/playground/${file}`)) {
      const packed = await app.fetch(path, { headers: { "accept-encoding": "gzip, br" } });
      expect([path, packed.status]).toEqual([path, 200]);
      expect(packed.headers.get("content-encoding")).toBe("gzip");
      expect((await packed.arrayBuffer()).byteLength).toBeLessThan(2_000_000);
      const etag = packed.headers.get("etag") ?? "";
      const headers = { "if-none-match": etag, "accept-encoding": "gzip, br" };
      expect((await app.fetch(path, { headers })).status).toBe(304);
      const plain = await app.fetch(path);
      expect(plain.headers.get("content-encoding")).toBeNull();
    }
    expect((await app.fetch("/graphql/playground/nothing.js")).status).toBe(404);
    expect((await app.fetch("/graphql/playground/constructor")).status).toBe(404);
  });

  test("starts with a useful query and a field for the token", async () => {
    const start = await (await app.fetch("/graphql/playground/start.js")).text();
    expect(start).toContain("flights(first: 5)");
    expect(start).toContain(JSON.stringify(JSON.stringify({ authorization: "Bearer " }, null, 2)));
  });

  test("opens in a browser without a network, runs the query and shows the result", async () => {
    const chromium = ["chromium", "chromium-browser", "google-chrome"].map((name) =>
      Bun.which(name),
    );
    const path = chromium.find((found) => found !== null) ?? null;
    if (path === null) {
      console.log("skipped: there is no Chromium here (apt-get install chromium)");
      return;
    }
    const server = createApp(app.services).listen({ port: 0, hostname: "127.0.0.1" });
    const profile = mkdtempSync(join(tmpdir(), "skyhook-chromium-"));
    const view = new Bun.WebView({
      width: 1200,
      height: 800,
      backend: {
        type: "chrome",
        path,
        argv: [
          "--no-sandbox",
          "--disable-gpu",
          "--no-first-run",
          "--disable-background-networking",
          `--user-data-dir=${profile}`,
          // No name leads anywhere: what is not served by this program is not there.
          "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ],
      },
    });
    try {
      const has = async (script: string) => Boolean(await view.evaluate(script));
      await view.navigate(new URL("/graphql", server.server?.url).href);
      const button = `document.querySelector("button.graphiql-execute-button")`;
      await until(() => has(`${button} !== null`), 20_000);
      // The editor is there when it shows the query.
      await until(() => has(`document.body.innerText.includes("flights")`), 20_000);
      await view.evaluate(`${button}.click()`);
      const result = `(document.querySelector(".result-window")?.innerText ?? "")`;
      await until(() => has(`${result}.includes("totalCount")`), 20_000);
      expect(await has(`${result}.includes("SK3")`)).toBe(true);
      const loaded: unknown = await view.evaluate(
        `performance.getEntriesByType("resource").map(({ name }) => new URL(name, location.href))
          .filter(({ protocol, origin }) => protocol !== "data:" && origin !== location.origin).length`,
      );
      expect(loaded).toBe(0);
      expect(await has(`document.body.innerText.includes("Headers")`)).toBe(true);
    } finally {
      view.close();
      await server.stop(true);
      rmSync(profile, { recursive: true, force: true });
    }
  }, 60_000);
});
