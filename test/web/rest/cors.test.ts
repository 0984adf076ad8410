import { describe, expect, test } from "bun:test";

import { startApp } from "../../support/app.ts";
import { appPerTest } from "../../support/running-app.ts";

const ours = "https://app.example.com";
const corsHeaders = (response: Response): string[] =>
  [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));

const app = appPerTest({ CORS_ORIGINS: `${ours}, http://localhost:5173` });

const preflight = (origin: string) =>
  app.fetch("/v1/api/bookings", {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,idempotency-key",
    },
  });

describe("by default", () => {
  test("no origin is allowed, and OPTIONS has no special meaning [API8-4]", async () => {
    await using closed = await startApp();
    const headers = { origin: ours, "access-control-request-method": "GET" };
    const answers = [
      await closed.fetch("/", { headers }),
      await closed.fetch("/v1/users", { headers }),
      await closed.fetch("/v1/users", { method: "OPTIONS", headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 405]);
    for (const response of answers) {
      expect(corsHeaders(response)).toEqual([]);
      expect(response.headers.get("vary") ?? "").not.toContain("Origin");
    }
  });
});

describe("a listed origin", () => {
  test.each([ours, "http://localhost:5173"])("%s passes the preflight request", async (origin) => {
    const response = await preflight(origin);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    const { headers } = response;
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    const methods = headers.get("access-control-allow-methods")?.split(", ");
    expect(methods?.toSorted()).toEqual(["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]);
    expect(headers.get("access-control-allow-headers")).toMatch(/Authorization.*Idempotency-Key/);
    expect(headers.get("access-control-max-age")).toBe("7200");
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toContain("Origin");
  });

  test.each([
    ["/", 200],
    ["/v1/users", 401],
    ["/nowhere", 404],
    ["/v1/api/flights", 400],
    ["/swagger", 200],
    ["/openapi.json", 200],
  ])("can read %s (%d) and the exposed headers", async (path, status) => {
    const response = await app.fetch(path, { headers: { origin: ours } });
    expect(response.status).toBe(status);
    const { headers } = response;
    expect(headers.get("access-control-allow-origin")).toBe(ours);
    expect(headers.get("access-control-allow-credentials")).toBeNull();
    expect(headers.get("vary")).toContain("Origin");
    const exposed = headers.get("access-control-expose-headers")?.split(", ");
    for (const name of [
      "Link",
      "Location",
      "ETag",
      "X-Request-Id",
      "Idempotent-Replayed",
      "Retry-After",
      "RateLimit",
      "RateLimit-Policy",
    ]) {
      expect(exposed).toContain(name);
    }
  });

  test("can read a stream", async () => {
    const response = await app.as("operator", "/v1/feed", { headers: { origin: ours } });
    expect(response.headers.get("access-control-allow-origin")).toBe(ours);
    await response.body?.cancel();
  });
});

describe("an unlisted origin", () => {
  test.each([
    "https://evil.example.com",
    "https://app.example.com.evil.com",
    "https://app.example.com:8443",
    "http://app.example.com",
    "https://APP.example.com",
    "https://app.example.com/",
    "null",
    "*",
    "",
  ])("%j receives no CORS headers [API8-5]", async (origin) => {
    for (const response of [
      await preflight(origin),
      await app.fetch("/", { headers: { origin } }),
    ]) {
      expect(corsHeaders(response)).toEqual([]);
      expect(response.headers.get("vary")).toContain("Origin");
    }
  });

  test("a request without an origin receives no CORS headers, but still Vary: Origin", async () => {
    const response = await app.fetch("/v1/api/flights/1");
    expect(corsHeaders(response)).toEqual([]);
    expect(response.headers.get("vary")).toContain("Origin");
  });
});

test("assets vary by Accept-Encoding and Origin", async () => {
  const vary = (await app.fetch("/swagger")).headers.get("vary")?.toLowerCase();
  expect(vary).toContain("accept-encoding");
  expect(vary).toContain("origin");
});

test.each([
  "*",
  "app.example.com",
  "https://app.example.com/",
  "https://a.b/c",
  "null",
  "https://*.b.c",
])("CORS_ORIGINS=%s prevents the start with an error that names the setting", async (value) => {
  expect(startApp({ CORS_ORIGINS: value })).rejects.toThrow(/^CORS_ORIGINS must be/);
});
