import { describe, expect, test } from "bun:test";

import { json, startApp } from "../../support/app.ts";
import { appForAll } from "../../support/running-app.ts";

/** All routes that need no token. The tests fail for a new route without authentication until it is listed here. */
const publicRoutes = [
  "GET /",
  "GET /livez",
  "GET /readyz",
  "GET /metrics",
  "GET /problems/:code",
  // Providers authenticate by signature.
  "POST /webhooks/:provider",
  "ALL /webhooks/*",
  "POST /v1/auth/token",
  // Whoever holds a token may revoke it.
  "POST /v1/auth/revoke",
  // Needs a one-time code or a token; the others read the cookie only.
  "POST /v1/auth/session",
  "GET /v1/auth/session",
  "DELETE /v1/auth/session",
  // Redirect to the identity provider, and need its answer.
  "GET /console/oidc/start",
  "GET /console/oidc/callback",
  // Tell clients where they get a token.
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/oauth-protected-resource/mcp",
  "GET /v1/api/flights",
  "GET /v1/api/flights/calendar",
  "GET /v1/api/flights/:id",
  "GET /swagger",
  "GET /swagger/scalar.js",
  "GET /swagger/page.css",
  "GET /swagger/start.js",
  "GET /swagger/json",
  "GET /openapi.json",
  "GET /schemas/provider.json",
  "GET /docs",
  "GET /docs/:page",
  "GET /docs/:page/:inner",
  "GET /docs/page.css",
  "GET /docs/page.js",
  "GET /docs/search",
  "GET /llms.txt",
  // A page without data. It reads everything from the API with the operator's token.
  "GET /console",
  "GET /console/start.js",
  "GET /console/page.js",
  "GET /console/main.js",
  "GET /console/others.js",
  "GET /console/uPlot.esm.js",
  "GET /console/page.css",
  // Flights are public. Each field that needs a token checks it.
  "ALL /graphql",
  "GET /graphql/playground/:file",
];

const own = await startApp();
const routes = own.app.routes.map(({ method, path }) => ({
  method,
  path,
  name: `${method} ${path}`,
}));
await own.stop();
const guarded = routes.filter(({ name }) => !publicRoutes.includes(name));

const app = appForAll();

const addressOf = (path: string): string => path.replaceAll(/:[^/]+/g, "1");

describe("routes", () => {
  test("every public route in the list exists", () => {
    const names = routes.map(({ name }) => name);
    expect(publicRoutes.filter((name) => !names.includes(name))).toEqual([]);
  });

  test("at least 14 routes need a token", () => {
    expect(guarded.length).toBeGreaterThanOrEqual(14);
  });

  test.each(guarded)("$name is 401 without a valid token [API2-10]", async ({ method, path }) => {
    const body = method === "GET" ? {} : { body: "{}" };
    const responses = [undefined, "Bearer nonsense", "Basic YTpi", "Bearer"].map((authorization) =>
      app.fetch(addressOf(path), {
        method,
        headers: { "content-type": "application/json", ...(authorization && { authorization }) },
        ...body,
      }),
    );
    for (const response of await Promise.all(responses)) {
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toStartWith("Bearer");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(["authentication-required", "invalid-token"]).toContain(
        String((await json(response))["code"]),
      );
    }
  });

  test.each(routes.filter(({ path, method }) => path.startsWith("/v1/") && method !== "ALL"))(
    "$name is in the OpenAPI document with its security requirement [API9-1]",
    async ({ method, path, name }) => {
      const { paths } = await json(await app.fetch("/openapi.json"));
      const at = path.replaceAll(/:([^/]+)/g, "{$1}");
      expect(paths).toHaveProperty([at, method.toLowerCase()]);
      const isGuarded = guarded.some((route) => route.name === name);
      const expected = isGuarded ? [{ bearer: [] }] : expect.not.arrayContaining([{ bearer: [] }]);
      const { security = [] }: { security?: unknown } = Object(
        Reflect.get(Object(Reflect.get(Object(paths), at)), method.toLowerCase()),
      );
      expect(security).toEqual(expected);
    },
  );
});

describe("headers", () => {
  test.each(["/", "/nowhere", "/v1/users", "/swagger", "/swagger/scalar.js", "/problems/internal"])(
    "%s has X-Content-Type-Options: nosniff",
    async (path) => {
      const response = await app.fetch(path);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    },
  );

  test.each(["/v1/users", "/v1/api/bookings", "/v1/events", "/v1/notifications", "/v1/rejections"])(
    "%s with a token is not cacheable",
    async (path) => {
      const response = await app.as("admin", path);
      expect(response.status).toBe(200);
      expect(response.headers.get("cache-control")).toBe("no-store");
    },
  );
});
