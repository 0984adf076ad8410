import { describe, expect, test } from "bun:test";

import { json, jsonWith, startApp } from "../../support/app.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();

const own = await startApp();
const routes = own.app.routes.map(({ method, path, hooks }) => {
  const { properties = {} }: { readonly properties?: object } = Object(hooks.query);
  return { method, path, name: `${method} ${path}`, declared: Object.keys(properties) };
});
await own.stop();
const operations = routes.filter(({ path }) => path.startsWith("/v1/"));
const others = routes.filter(({ path }) => !path.startsWith("/v1/"));

const ask = (method: string, path: string, query: string) =>
  app.as("admin", `${path.replaceAll(/:\w+/g, "1")}?${query}`, { method });

describe("unknown query parameters", () => {
  test("the API has operations", () => {
    expect(operations.length).toBeGreaterThan(20);
  });

  test.each(operations)("are rejected at $name", async ({ method, path, declared }) => {
    const response = await ask(method, path, "zzz=1&%F0%9F%9B%AB=&zzz=2");
    const { code, detail, errors } = await jsonWith(response, 400);
    expect(code).toBe("invalid-parameter");
    expect(errors).toMatchObject([{ parameter: "zzz" }, { parameter: "🛫" }]);
    expect(String(detail)).toStartWith("zzz: ");
    expect(String(detail)).toEndWith(" (and 1 more)");
    if (declared.length === 0) expect(detail).toContain("This operation has no parameters");
  });

  test.each(operations)("suggest no name that is not near at $name", async (operation) => {
    const { method, path, declared } = operation;
    for (const name of ["foo", "zzz", "x", "", "utm_source", "fields"]) {
      const { detail } = await json(await ask(method, path, `${name}=1`));
      const words = String(detail).split(/\W+/);
      expect(declared.filter((known) => words.includes(known))).toEqual([]);
    }
  });

  test.each(
    operations.flatMap(({ declared, ...route }) => declared.map((known) => ({ ...route, known }))),
  )("suggest the nearest name at $name: $known", async ({ method, path, known }) => {
    for (const query of [`${known}x`, `${known}%20=1`, `${known.toUpperCase()}=1`]) {
      const { errors } = await jsonWith(await ask(method, path, query), 400);
      expect(errors).toMatchObject([{ detail: `Unknown parameter. Did you mean ${known}?` }]);
    }
    // The parameter itself is known, whatever its value.
    const read = await ask(method, path, `${known}=`);
    expect(await read.text()).not.toContain("Unknown parameter");
  });

  test.each([
    ["/v1/events", "since", "from"],
    ["/v1/events", "Until", "to"],
    ["/v1/events/feed", "since", "from"],
    ["/v1/events", "search", "q"],
    ["/v1/users", "per_page", "limit"],
    ["/v1/users", "after", "cursor"],
  ])("suggest the parameter with the same meaning at %s: %s", async (path, name, known) => {
    const { errors } = await json(await ask("GET", path, `${name}=1`));
    expect(errors).toMatchObject([{ detail: `Unknown parameter. Did you mean ${known}?` }]);
  });

  test.each(others)("are ignored at $name", async ({ method, path }) => {
    const used = method === "ALL" ? "POST" : method;
    const [without, withThem] = await Promise.all(
      ["", "utm_source=x"].map((query) => ask(used, path, query)),
    );
    expect(withThem?.status).toBe(without?.status ?? 0);
    expect(withThem?.status).not.toBe(500);
  });

  test("are rejected for HEAD too, and long or numerous names are truncated", async () => {
    expect((await ask("HEAD", "/v1/users", "x=1")).status).toBe(400);
    expect((await ask("HEAD", "/v1/users", "limit=1")).status).not.toBe(400);
    const long = `${"x".repeat(5_000)}=1`;
    const many = Array.from({ length: 200 }, (_, index) => `p${index}=1`).join("&");
    for (const query of [long, many]) {
      const response = await ask("GET", "/v1/users", query);
      expect(response.status).toBe(400);
      expect((await response.text()).length).toBeLessThan(3_000);
    }
  });

  test("are rejected before the token is checked and before the resource is read", async () => {
    expect((await app.fetch("/v1/events/evt_0?x=1")).status).toBe(400);
    expect((await app.fetch("/v1/nowhere?x=1")).status).toBe(404);
    expect((await app.fetch("/v1/events?x=1", { method: "PUT" })).status).toBe(405);
  });
});
