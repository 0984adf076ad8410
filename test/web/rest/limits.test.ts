import { expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { json } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { postQuery } from "../../support/graphql.ts";
import { expectLimited } from "../../support/limited.ts";
import { appPerTest } from "../../support/running-app.ts";

const app = appPerTest();
const missing = "/v1/api/bookings/bk_1";
const writeOf = (who: string, role: Role = "user") =>
  app.as(role, missing, { method: "DELETE" }, who);
const left = (response: Response) => response.headers.get("ratelimit");

/** Uses up a limit as requests would, without sending thousands. */
function use(kind: "writes" | "costly-reads", count: number, id: string, role: Role = "user") {
  const ctx = { actor: { id, roles: [role] } };
  for (let n = 0; n < count; n += 1) app.services.requestLimits.count(ctx, kind);
}

test.each<[string, Role, number]>([
  ["ada", "user", 1_200],
  ["cli_0", "user", 6_000],
  ["grace", "operator", 6_000],
  ["root", "admin", 6_000],
])(
  "%s (%s) may write %d times a minute, and others still may [API4-26]",
  async (who, role, most) => {
    const first = await writeOf(who, role);
    expect(first.status).toBe(404);
    expect(first.headers.get("ratelimit-policy")).toBe(`"writes";q=${most};w=60`);
    expect(left(first)).toBe(`"writes";r=${most - 1};t=60`);
    app.clock.advance(1_500);
    use("writes", most - 2, who, role);
    expect(left(await writeOf(who, role))).toBe('"writes";r=0;t=59');
    await expectLimited(await writeOf(who, role), `"writes";q=${most};w=60`, 59);
    expect((await writeOf("another", role)).status).toBe(404);
    expect((await app.as(role, "/v1/api/bookings", {}, who)).status).toBe(200);
    app.clock.advance(58_500);
    expect((await writeOf(who, role)).status).toBe(404);
  },
);

test("each mutation of a request counts as a write", async () => {
  const { id } = await addFlight(app);
  const make = (n: number) =>
    `u${n}: createUser(input: { name: "U", email: "${crypto.randomUUID()}@example.com" }) { userId }`;
  const mutation = (count: number) => {
    const parts = Array.from({ length: count }, (_, n) => make(n)).join(" ");
    return app.as("user", "/graphql", postQuery(`mutation { ${parts} }`), "ada");
  };
  expect(left(await mutation(15))).toBe('"writes";r=1185;t=60');
  use("writes", 1_184, "ada");
  const booked = await app.as("user", "/v1/api/bookings", post(bookingBody(id)), "ada");
  expect([booked.status, left(booked)]).toEqual([201, '"writes";r=0;t=60']);
  expect(await json(await mutation(1))).toMatchObject({
    errors: [{ extensions: { code: "too-many-requests", status: 429 } }],
  });
  const query = await app.as("user", "/graphql", postQuery("{ bookings { totalCount } }"), "ada");
  expect(await json(query)).toMatchObject({ data: { bookings: { totalCount: 1 } } });
});

test.each<[string, RequestInit]>([
  ["/v1/events?q=x", {}],
  ["/v1/api/bookings?include=total", {}],
  ["/v1/statistics/health", {}],
  ["/v1/me/export", {}],
  ["/v1/persons/find", post({ q: "ada" })],
])("600 costly reads a minute, such as %s", async (path, init) => {
  const ask = () => app.as("admin", path, init, "root");
  use("costly-reads", 599, "root", "admin");
  const last = await ask();
  expect([last.status, left(last)]).toEqual([200, '"costly-reads";r=0;t=60']);
  await expectLimited(await ask(), '"costly-reads";q=600;w=60', 60);
  expect((await app.as("admin", "/v1/events", {}, "root")).status).toBe(200);
  expect((await writeOf("root", "admin")).status).toBe(404);
});

test.each(["/v1/keys", "/v1/sessions"])(
  "%s ends a key although its thief uses up the limit of its owner",
  async (path) => {
    const made = await app.as("operator", "/v1/keys", post({ name: "x" }), "ada");
    const { id } = await json(made);
    use("writes", 5_999, "ada", "operator");
    const end = () => app.as("operator", `${path}/${String(id)}`, { method: "DELETE" }, "ada");
    const ended = await end();
    expect([ended.status, left(ended)]).toEqual([200, null]);
    expect((await end()).status).toBe(404);
    expect((await writeOf("ada", "operator")).status).toBe(429);
  },
);

test("a page without search and total is not limited", async () => {
  expect(left(await app.as("admin", "/v1/events?limit=1&include=severity"))).toBeNull();
});
