import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { buildSchema, getIntrospectionQuery, graphqlSync } from "graphql";

import { json } from "../support/app.ts";
import { itemsOf } from "../support/operator.ts";
import { appPerTest } from "../support/running-app.ts";

const budget = 800_000;
const route = "origin=JFK&destination=LHR";
const schema = "{ __schema { types { fields { args { name } } } } }";
const schemas = `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: __schema { types { fields { args { name } } } }`).join(" ")} }`;
const printed = await Bun.file(join(import.meta.dir, "../../schema.graphql")).text();
const { data: introspected } = graphqlSync({ schema: buildSchema(printed), source: schema });
/** The pairs of a name and its value in an answer. */
const schemaFields = JSON.stringify(introspected).split('":').length - 1;
const pages = "{ flights(first: 100) { nodes { flightId airline } } }";
const pageFields = 1 + 1 + 100 * 2;
const calendar = `/v1/api/flights/calendar?${route}&from=2026-12-01&to=2027-01-31`;
const invalid = `{ ${"nonsense ".repeat(400)} }`;

const app = appPerTest({ TRUSTED_PROXY_HOPS: "1" });

const from = (address: string, path: string, query?: string) =>
  app.fetch(path, {
    headers: { "x-forwarded-for": address, "content-type": "application/json" },
    ...(query !== undefined && { method: "POST", body: JSON.stringify({ query }) }),
  });

/** How many of these requests an address can make in ten seconds. */
async function allowedOf(path: string, query?: string): Promise<number> {
  for (let count = 0; count < most; count += 1) {
    const response = await from("192.0.2.1", path, query);
    if (response.status === 429) return count;
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  return most;
}

/** More than any test expects. */
const most = 1_500;

describe("requests without a token are counted by what they cost", () => {
  test.each([
    ["a calendar of 62 days", calendar, 62 * 250],
    ["a search", `/v1/api/flights?${route}&departureDate=2026-12-10&limit=100`, 100 * 15],
    ["a search of the docs", "/docs/search?q=secret", 1_200],
  ])("%s", async (_, path, cost) => {
    expect(await allowedOf(path)).toBe(Math.floor(budget / cost));
  });

  /** Uses up all but 25,000 fields. */
  const spend = async () => {
    for (let n = 0; n < 50; n += 1) expect((await from("192.0.2.1", calendar)).status).toBe(200);
  };

  test.each([
    ["a page of 100", pages, pageFields + pages.length],
    ["a schema", schema, schemaFields + schema.length],
    ["a query that is not valid", invalid, invalid.length],
  ])("%s in GraphQL", async (_, query, cost) => {
    await spend();
    const body = Math.floor(JSON.stringify({ query }).length / 10);
    expect(await allowedOf("/graphql", query)).toBe(Math.floor(25_000 / (cost + body)));
  });

  test("variables in GraphQL, before they are parsed", async () => {
    await spend();
    const body = JSON.stringify({ query: "{ __typename }", variables: { a: "a".repeat(80_000) } });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const headers = { "x-forwarded-for": "192.0.2.1", "content-type": "application/json" };
      statuses.push((await app.fetch("/graphql", { method: "POST", headers, body })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test("15 calendars in GraphQL", async () => {
    await spend();
    const field = `flightCalendar(origin: "JFK", destination: "LHR", from: "2026-12-01", to: "2026-12-07") { days { date } }`;
    const query = `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: ${field}`).join(" ")} }`;
    const answer = await json(await from("192.0.2.1", "/graphql", query));
    // Besides the query, each calendar costs 7 × 250: too much for the last ones, and fields are not nullable.
    expect(answer["data"]).toBeNull();
    expect(itemsOf(answer["errors"])[0]?.["extensions"]).toMatchObject({
      code: "too-many-requests",
      retryAfterSeconds: 10,
    });
  });
});

test("beyond the budget, all that costs is 429 until ten seconds end, for this address alone [API4-24]", async () => {
  const address = "2001:db8:1:2::1";
  for (let n = 0; n < 52; n += 1) await from(address, calendar);
  app.clock.advance(4_000);
  const blocked = [
    [calendar],
    ["/docs/search?q=webhook"],
    ["/graphql", "{ flight(flightId: 1) { id } }"],
    ["/graphql", "{ __typename }"],
  ] as const;
  for (const [path, query] of blocked) {
    const response = await from("2001:db8:1:2:ffff::9", path, query);
    expect([path, response.status]).toEqual([path, 429]);
    expect(response.headers.get("retry-after")).toBe("6");
    expect(response.headers.get("ratelimit-policy")).toBe('"work";q=800000;w=10');
    expect(response.headers.get("ratelimit")).toBe('"work";r=0;t=6');
    expect(JSON.stringify(await response.json())).toContain('"too-many-requests"');
  }
  expect((await from("2001:db8:1:3::1", calendar)).status).toBe(200);
  expect((await from(address, "/v1/api/flights/1")).status).toBe(404);
  expect((await from(address, "/livez")).status).toBe(200);
  expect((await from(address, "/webhooks/task_tracker", "{}")).status).toBe(401);
  const headers = { "x-forwarded-for": address };
  expect((await app.as("user", calendar, { headers })).status).toBe(200);
  const forged = { ...headers, authorization: "Bearer forged" };
  expect((await app.fetch(calendar, { headers: forged })).status).toBe(429);
  const signedIn = await app.as("user", "/graphql", {
    method: "POST",
    headers: { "x-forwarded-for": address, "content-type": "application/json" },
    body: JSON.stringify({ query: "{ me { email } }" }),
  });
  expect(await json(signedIn)).not.toHaveProperty("errors");
  app.clock.advance(6_000);
  expect((await from(address, calendar)).status).toBe(200);
});

test("an invalid token does not evade the budget", async () => {
  const forged = () =>
    app.fetch("/graphql", {
      method: "POST",
      headers: {
        "x-forwarded-for": "192.0.2.1",
        "content-type": "application/json",
        authorization: "Bearer forged",
      },
      // Refused before it is parsed: a query that is not valid would be 400.
      body: JSON.stringify({ query: invalid }),
    });
  expect((await forged()).status).toBe(401);
});

test("the introspection of tools is within the limits, 15 schemas with types are not", async () => {
  const options = {
    inputValueDeprecation: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    oneOf: true,
  };
  const answered = await json(await from("192.0.2.1", "/graphql", getIntrospectionQuery(options)));
  expect(answered).not.toHaveProperty("errors");
  expect((await json(await from("192.0.2.1", "/graphql", schemas)))["errors"]).toBeUndefined();
  const typed = schemas.replaceAll(
    "args { name }",
    "args { name type { name kind } } name description",
  );
  expect(JSON.stringify(await json(await from("192.0.2.1", "/graphql", typed)))).toContain(
    '"limit":"complexity"',
  );
});
