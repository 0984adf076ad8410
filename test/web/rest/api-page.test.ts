import { describe, expect, test } from "bun:test";

import { appForAll } from "../../support/running-app.ts";

const app = appForAll();

const files = [
  ["/swagger", "text/html; charset=utf-8"],
  ["/swagger/scalar.js", "text/javascript; charset=utf-8"],
  ["/swagger/page.css", "text/css; charset=utf-8"],
  ["/swagger/start.js", "text/javascript; charset=utf-8"],
  ["/swagger/json", "application/json"],
  ["/openapi.json", "application/json"],
] as const;

describe.each(files)("%s", (path, type) => {
  test("is compressed only for clients that accept gzip", async () => {
    const ask = (coding: string, headers = {}) =>
      app.fetch(path, { headers: { ...headers, "accept-encoding": coding } });
    const plain = await ask("identity");
    expect(plain.headers.get("content-type")).toBe(type);
    expect(plain.headers.get("content-encoding")).toBeNull();
    const text = await plain.text();
    for (const coding of ["gzip", "br, gzip;q=0.5", "deflate,gzip , br"]) {
      // The console's JSON is compressed on the way out: not a second time.
      for (const headers of [{}, { "x-skyhook-console": "1" }]) {
        const compressed = await ask(coding, headers);
        expect(compressed.headers.get("content-encoding")).toBe("gzip");
        expect(compressed.headers.get("vary")).toBe("Accept-Encoding, Origin");
        expect(new TextDecoder().decode(Bun.gunzipSync(await compressed.arrayBuffer()))).toBe(text);
      }
    }
    for (const coding of ["", "br", "gzip;q=0", "gzip; q=0.000, br", "xgzip"]) {
      expect((await ask(coding)).headers.get("content-encoding")).toBeNull();
    }
  });

  test("returns 304 for the ETag of the same content coding", async () => {
    for (const coding of ["identity", "gzip"]) {
      const headers = { "accept-encoding": coding };
      const etag = (await app.fetch(path, { headers })).headers.get("etag") ?? "";
      const again = await app.fetch(path, { headers: { ...headers, "if-none-match": etag } });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(etag);
      expect(await again.text()).toBe("");
      for (const [listed, status] of [
        [`W/${etag}`, 304],
        [`"other", ${etag}`, 304],
        ["*", 304],
        ['"other"', 200],
      ] as const) {
        const init = { headers: { ...headers, "if-none-match": listed } };
        expect([listed, (await app.fetch(path, init)).status]).toEqual([listed, status]);
      }
    }
  });
});

describe("the page", () => {
  test("has a Content-Security-Policy that allows only its own files", async () => {
    const { headers } = await app.fetch("/swagger");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|https?:/);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("references only existing files of its own origin", async () => {
    const page = await (await app.fetch("/swagger")).text();
    const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
    expect(named).toContain("swagger/scalar.js");
    for (const address of named.filter((each) => !each.startsWith("data:image/svg+xml,"))) {
      expect(address).not.toMatch(/^[a-z]+:|^\/\//);
      expect((await app.fetch(`/${address}`)).status).toBe(200);
    }
    expect(await (await app.fetch("/swagger/page.css")).text()).not.toMatch(/url\(|@import/);
    expect(await (await app.fetch("/swagger/start.js")).text()).not.toMatch(/https?:|\/\//);
  });

  test("includes the license of Scalar", async () => {
    const script = await (await app.fetch("/swagger/scalar.js")).text();
    expect(script).toStartWith("/*!\nMIT License\n\nCopyright (c) 2023-present Scalar");
  });
});
