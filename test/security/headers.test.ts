import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp } from "../support/app.ts";
import { postQuery } from "../support/graphql.ts";

const app = await startApp();
afterAll(() => app.stop());
const routes = app.app.routes.map(({ method, path }) => ({
  method: method === "ALL" ? "POST" : method,
  path: path.replaceAll(/:[^/]+/g, "1"),
}));
/** The responses of each route: without a token, and to an admin. */
const answers = new Map<(typeof routes)[number], readonly Response[]>();
beforeAll(async () => {
  for (const route of routes) {
    const { method, path } = route;
    const both = [await app.fetch(path, { method }), await app.as("admin", path, { method })];
    for (const { body } of both) await body?.cancel();
    answers.set(route, both);
  }
});
const answersOf = (route: (typeof routes)[number]) => answers.get(route) ?? [];

describe("security headers", () => {
  const expectAll = ({ headers }: Response) => {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("http");
    // HSTS is left to the proxy that terminates TLS.
    expect(headers.get("strict-transport-security")).toBeNull();
    expect(headers.get("server")).toBeNull();
    expect(headers.get("x-powered-by")).toBeNull();
  };

  test.each(routes)("are set on every response of $method $path [API8-1]", (route) => {
    expect(answersOf(route)).toHaveLength(2);
    for (const answer of answersOf(route)) expectAll(answer);
  });

  test("are set on pages, errors, unsupported methods, preflights and acknowledgements", async () => {
    const preflight = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const answers = await Promise.all([
      app.fetch("/graphql", { headers: { accept: "text/html" } }),
      app.fetch("/graphql", postQuery("{ __typename }")),
      app.fetch("/nowhere"),
      app.fetch("/v1/users", { method: "TRACE" }),
      app.fetch("/v1/users", { method: "OPTIONS", headers: preflight }),
      app.deliverSample("code_host", "workflow_run.completed"),
      app.deliver("code_host", "{}", { secret: "wrong" }),
    ]);
    for (const answer of answers) expectAll(answer);
  });

  test.each(routes.filter(({ path }) => path.startsWith("/v1/") && !path.includes("/flights")))(
    "responses of $method $path are not cacheable [API8-2]",
    (route) => {
      for (const { headers } of answersOf(route)) {
        expect(headers.get("cache-control")).toBe("no-store");
      }
    },
  );

  test("no response sets a cookie, except to the console when it signs in [API8-3]", () => {
    for (const { headers } of [...answers.values()].flat()) {
      expect(headers.get("set-cookie")).toBeNull();
    }
  });
});
