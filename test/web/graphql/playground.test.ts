import { describe, expect, test } from "bun:test";

import { parse, validate } from "graphql";

import { createSchema } from "../../../src/graphql-schema.ts";
import { examples } from "../../../src/web/graphql/playground-examples.ts";
import { appForAll } from "../../support/running-app.ts";

const files = [
  "graphiql.js",
  "graphiql.css",
  "start.js",
  "editor.worker.js",
  "json.worker.js",
  "graphql.worker.js",
];
const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

const app = appForAll();

test.each(examples)("the example $title is valid for the schema", async ({ query }) => {
  const errors = validate(await createSchema(app.services), parse(query));
  expect(errors.map(({ message }) => message)).toEqual([]);
});

describe("the playground", () => {
  test.each(["text/html;q=0, */*", "text/html;q=0.1, application/json"])(
    "is not the answer to Accept: %s",
    async (accept) => {
      const response = await app.fetch("/graphql?query={__typename}", { headers: { accept } });
      expect(response.headers.get("content-type")).toContain("json");
    },
  );

  test("loads only compressed files of this server, with ETags", async () => {
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

  test("starts with an example query and a header for the token", async () => {
    const start = await (await app.fetch("/graphql/playground/start.js")).text();
    expect(start).toContain("flights(first: 5)");
    expect(start).toContain(JSON.stringify('{\n  "authorization": "Bearer "').slice(0, -1));
  });
});
