import { expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { RawClient } from "../../support/raw-client.ts";
import { listeningForAll } from "../../support/running-app.ts";

// A proxy's rule for a path, such as that of `deploy/haproxy.cfg` for /metrics, reads the path as it was sent.

const server = listeningForAll();
const { app } = server;

async function statusOf(method: string, target: string, host = "x"): Promise<number> {
  using client = await RawClient.connect(server.url);
  client.write(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`);
  await until(() => client.received.includes("\r\n"));
  return Number(client.received.slice(9, 12));
}

test.each([
  ["GET", "/metrics", 200],
  ["HEAD", "/metrics", 200],
  ["DELETE", "/metrics", 405],
  ["PROPFIND", "/metrics", 405],
  ["GET", "/metrics?x=/../y", 200],
  ["GET", "http://x/metrics", 200],
  ["GET", "http://x", 200],
  ["GET", "/./metrics", 400],
  ["HEAD", "/./metrics", 400],
  ["DELETE", "/./metrics", 400],
  ["OPTIONS", "/./metrics", 400],
  ["PROPFIND", "/./metrics", 400],
  ["GET", "http://x/./metrics", 400],
  ["GET", "/../metrics", 400],
  ["GET", "/x/../metrics", 400],
  ["GET", "/x/y/z/../../../metrics", 400],
  ["GET", "/metrics/x/..", 404],
  ["GET", "/%2e/metrics", 400],
  ["GET", "/x/%2E%2e/metrics", 400],
  ["GET", "/x/.%2e/metrics", 400],
  ["GET", "/x\\..\\metrics", 400],
  // These match a route as they were sent, but another one after that.
  ["GET", "/docs/..", 400],
  ["GET", "/docs/..\\metrics", 400],
  ["GET", "/docs/%2e%2e/metrics", 400],
  ["POST", "/webhooks/..\\metrics", 400],
  ["POST", "/webhooks/../webhooks/code_host", 400],
  ["POST", "/webhooks/./code_host", 400],
  ["POST", "/webhooks/code_host", 401],
  ["POST", "/webhooks/code%5fhost", 404],
  ["POST", "/webhooks/code_host/", 401],
  ["POST", "/webhooks/x/../../metrics", 400],
  ["POST", "/webhooks/*", 404],
  ["POST", "/./graphql", 400],
  ["POST", "/x/../mcp", 400],
  // The path as sent belongs to the same route: all the paths below /webhooks/ that are longer.
  ["POST", "/webhooks/./code_host/", 401],
  // No route answers these.
  ["GET", "/\\metrics", 404],
  ["GET", "//metrics", 404],
  ["GET", "/metrics;x", 404],
  ["GET", "/metrics/.", 404],
  ["GET", "/%6detrics", 404],
  ["GET", "/x/../nothing", 404],
  ["GET", "/...", 404],
])("%s %s is answered %d", async (method, target, status) => {
  expect(await statusOf(method, target)).toBe(status);
});

test.each([
  ["GET", "/metrics", 200],
  ["GET", "/v1/statistics/health", 401],
  ["GET", "/v1/api/flights/1", 404],
  ["GET", "/v1/api/flights", 400],
  ["DELETE", "/v1/api/flights", 405],
  ["POST", "/webhooks/code_host", 401],
  ["GET", "/webhooks/code_host", 405],
  ["GET", "/graphql?query={__typename}", 200],
  ["GET", "/./metrics", 404],
  ["GET", "/v1/../metrics", 404],
  ["GET", "/v1/api/metrics", 404],
])(
  "a Host that is not valid changes no path: %s %s is answered %d",
  async (method, target, status) => {
    for (const host of ["[::bad", "", "x:99999999", "x/metrics?", "x/./metrics#"]) {
      expect([host, await statusOf(method, target, host)]).toEqual([host, status]);
    }
  },
);

test("HEAD of a feed ends", async () => {
  const token = await app.services.tokens.mint({ id: "operator", roles: ["operator"] }, 60);
  const request = { method: "HEAD", headers: { authorization: `Bearer ${token}` } };
  for (const path of ["/v1/feed", "/v1/events/feed", "/v1/events", "/livez"]) {
    const { status, body } = await fetch(server.url + path, request);
    expect([path, status, body]).toEqual([path, 200, null]);
  }
});

test("no route fails for a parameter that cannot be decoded", async () => {
  const token = await app.services.tokens.mint({ id: "admin", roles: ["admin"] }, 60);
  const headers = { authorization: `Bearer ${token}` };
  const faults: string[] = [];
  for (const { method, path } of app.app.routes) {
    if (!path.includes("/:") || method === "ALL") continue;
    const { status } = await fetch(server.url + path.replaceAll(/:[^/]+/g, "%"), {
      method,
      headers,
    });
    if (status >= 500) faults.push(`${method} ${path}`);
  }
  expect(faults).toEqual([]);
});

test("every route is reached by its own path", async () => {
  const paths = [
    ...new Set(app.app.routes.map(({ path }) => path.replaceAll(/:[^/]+/g, "a.b..c"))),
  ];
  expect(paths.length).toBeGreaterThan(80);
  const refused: string[] = [];
  // No route has this method.
  for (const path of paths) if ((await statusOf("PROPFIND", path)) === 400) refused.push(path);
  expect(refused).toEqual([]);
});
