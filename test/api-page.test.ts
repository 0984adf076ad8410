import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp, type TestApp } from "./support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const files = [
  ["/swagger", "text/html; charset=utf-8"],
  ["/swagger/ui.js", "text/javascript; charset=utf-8"],
  ["/swagger/ui.css", "text/css; charset=utf-8"],
  ["/swagger/start.js", "text/javascript; charset=utf-8"],
  ["/swagger/json", "application/json"],
  ["/openapi.json", "application/json"],
] as const;

describe.each(files)("%s", (path, type) => {
  test("is served compressed to who takes it, plain to who does not", async () => {
    const ask = (coding: string) => app.fetch(path, { headers: { "accept-encoding": coding } });
    const plain = await ask("identity");
    expect(plain.headers.get("content-type")).toBe(type);
    expect(plain.headers.get("content-encoding")).toBeNull();
    const text = await plain.text();
    for (const coding of ["gzip", "br, gzip;q=0.5", "deflate,gzip , br"]) {
      const packed = await ask(coding);
      expect(packed.headers.get("content-encoding")).toBe("gzip");
      expect(packed.headers.get("vary")).toBe("Accept-Encoding, Origin");
      expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(text);
    }
    for (const coding of ["", "br", "gzip;q=0", "gzip; q=0.000, br", "xgzip"]) {
      expect((await ask(coding)).headers.get("content-encoding")).toBeNull();
    }
  });

  test("is sent once: 304 after that, for each coding its own", async () => {
    for (const coding of ["identity", "gzip"]) {
      const headers = { "accept-encoding": coding };
      const etag = (await app.fetch(path, { headers })).headers.get("etag") ?? "";
      const again = await app.fetch(path, { headers: { ...headers, "if-none-match": etag } });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(etag);
      expect(await again.text()).toBe("");
    }
  });
});

describe("the page", () => {
  test("allows itself nothing but its own files", async () => {
    const { headers } = await app.fetch("/swagger");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|https?:/);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("names no other origin, and every file that it names is there", async () => {
    const page = await (await app.fetch("/swagger")).text();
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(named).toContain("swagger/ui.js");
    for (const address of named.filter((each) => each !== "data:,")) {
      expect(address).not.toMatch(/^[a-z]+:|^\/\//);
      expect((await app.fetch(`/${address}`)).status).toBe(200);
    }
    const style = await (await app.fetch("/swagger/ui.css")).text();
    const loaded = [...style.matchAll(/(?:url\(|@import )\s*["']?([^"')]{1,5})/g)];
    expect(loaded.every(([, start]) => start === "data:")).toBeTrue();
    expect(await (await app.fetch("/swagger/start.js")).text()).not.toMatch(/https?:|\/\//);
  });
});

const chromium = Bun.which("chromium") ?? Bun.which("google-chrome");
if (chromium === null) console.warn("No Chromium here: the page is not tried in a browser");

test.skipIf(chromium === null)(
  "the page shows the operations in a browser that reaches no other origin, and breaks no policy of its own",
  async () => {
    const asked: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        const { pathname, search } = new URL(request.url);
        return app.fetch(pathname + search, { headers: request.headers });
      },
    });
    const argv = [
      "--no-sandbox",
      "--disable-gpu",
      "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    ];
    const said: string[] = [];
    const view = new Bun.WebView({
      backend: { type: "chrome", path: chromium ?? "", argv },
      console: (type, ...words) => void said.push(`${type}: ${words.map(String).join(" ")}`),
    });
    try {
      await view.navigate(`${server.url.href}swagger`);
      const count = "document.querySelectorAll('.opblock').length";
      for (let tries = 0; tries < 100 && Number(await view.evaluate(count)) === 0; tries += 1) {
        await Bun.sleep(50);
      }
      expect(Number(await view.evaluate(count))).toBeGreaterThanOrEqual(20);
      const title = await view.evaluate("document.querySelector('.info .title').textContent");
      expect(String(title)).toContain("Skyhook");
      expect(await view.evaluate("document.querySelectorAll('main, [role=main]').length")).toBe(1);
      // Opening an operation draws what most of the page's code is for: its parameters and examples.
      await view.evaluate("document.querySelector('.opblock-summary-control').click()");
      const isOpen = "document.querySelectorAll('.opblock-body .parameters').length > 0";
      for (let tries = 0; tries < 100 && !(await view.evaluate(isOpen)); tries += 1) {
        await Bun.sleep(50);
      }
      expect(await view.evaluate(isOpen)).toBeTrue();
      const others = `performance.getEntriesByType("resource").map((entry) => entry.name)
        .filter((name) => !name.startsWith(location.origin) && !name.startsWith("data:")).join()`;
      expect(await view.evaluate(others)).toBe("");
      const violations = `new Promise((resolve) => {
        const observer = new ReportingObserver(() => {}, { types: ["csp-violation"], buffered: true });
        observer.observe();
        setTimeout(() => resolve(observer.takeRecords().map((it) => it.body.blockedURL + " " + it.body.effectiveDirective).join()), 100);
      })`;
      expect(await view.evaluate(violations)).toBe("");
      expect(said.filter((line) => /error|Content Security|refused/i.test(line))).toEqual([]);
      expect(asked).toContain("/openapi.json");
    } finally {
      view.close();
      await server.stop(true);
    }
  },
);
