import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp, type TestApp } from "../support/app.ts";
import { postQuery } from "../support/graphql.ts";

const own = await startApp();
const doors = own.app.routes.map(({ method, path }) => ({
  method: method === "ALL" ? "POST" : method,
  path: path.replaceAll(/:[^/]+/g, "1"),
}));
await own.stop();

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

describe("security headers", () => {
  const expectAll = ({ headers }: Response) => {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("http");
    // The proxy ends TLS, so the proxy says so.
    expect(headers.get("strict-transport-security")).toBeNull();
    expect(headers.get("server")).toBeNull();
    expect(headers.get("x-powered-by")).toBeNull();
  };

  test.each(doors)(
    "are on $method $path, whatever it answers [API8-1]",
    async ({ method, path }) => {
      expectAll(await app.fetch(path, { method }));
      const answer = await app.as("admin", path, { method });
      expectAll(answer);
      await answer.body?.cancel();
    },
  );

  test("are on pages, errors, methods that are not there, preflights and acknowledgements", async () => {
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

  test.each(doors.filter(({ path }) => path.startsWith("/v1/") && !path.includes("/flights")))(
    "no cache keeps what $method $path answers [API8-2]",
    async ({ method, path }) => {
      for (const answer of [
        await app.fetch(path, { method }),
        await app.as("admin", path, { method }),
      ]) {
        expect(answer.headers.get("cache-control")).toBe("no-store");
        await answer.body?.cancel();
      }
    },
  );

  test("no answer sets a cookie, so that there is none to steal or to ride on [API8-3]", async () => {
    for (const { method, path } of doors) {
      const answer = await app.as("admin", path, { method });
      expect(answer.headers.get("set-cookie")).toBeNull();
      await answer.body?.cancel();
    }
  });
});
