import { beforeEach, describe, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { ask, type Asker, dataOf } from "../../support/graphql.ts";
import { appPerTest } from "../../support/running-app.ts";

const globalId = (type: string, id: unknown) =>
  Buffer.from(`${type}:${String(id)}`).toString("base64");

describe("access", () => {
  const app = appPerTest();
  let bookingId: string;
  const owner: Asker = ["user", "owner"];
  const stranger: Asker = ["user", "stranger"];
  const operator: Asker = ["operator", "operator"];
  beforeEach(async () => {
    const { id } = await addFlight(app);
    const made = await app.as("user", "/v1/api/bookings", post(bookingBody(id)), "owner");
    bookingId = String((await json(made))["bookingId"]);
  });

  const details = `reference status totalPrice confirmationSentTo passengers { firstName passportNumber }
    user { name } flight { flightNumber } cancellation { cancelledAt }`;
  const queries: readonly (readonly [string, string])[] = [
    ["booking", `query ($id: ID!) { found: booking(bookingId: $id) { ${details} } }`],
    ["node", `query ($node: ID!) { found: node(id: $node) { id ... on Booking { ${details} } } }`],
    [
      "nodes",
      `query ($node: ID!) { found: nodes(ids: [$node]) { id ... on Booking { ${details} } } }`,
    ],
    ["bookings", `{ found: bookings { totalCount nodes { ${details} } edges { cursor } } }`],
    [
      "bookings of a user",
      `{ found: bookings(userId: "owner") { totalCount nodes { ${details} } } }`,
    ],
  ];

  test.each(queries)("denies other users' bookings through %s [API1-3]", async (_, query) => {
    const variables = { id: bookingId, node: globalId("Booking", bookingId) };
    const used = Object.fromEntries(
      Object.entries(variables).filter(([name]) => query.includes(`$${name}`)),
    );
    const missing = { id: "bk_0", node: globalId("Booking", "bk_0") };
    const none = Object.fromEntries(
      Object.entries(missing).filter(([name]) => query.includes(`$${name}`)),
    );
    expect(JSON.stringify(await dataOf(app, owner, query, used))).toContain("ada@example.com");
    expect(JSON.stringify(await dataOf(app, "admin", query, used))).toContain("ada@example.com");
    for (const who of [stranger, operator]) {
      const seen = await ask(app, who, query, used);
      expect(JSON.stringify(seen)).not.toMatch(/ada@example|Ada|0001/);
      // The same response as for a booking that does not exist.
      if (query.includes("$")) expect(seen).toEqual(await ask(app, who, query, none));
    }
    const { errors } = await ask(app, null, query, used);
    expect(errors).toMatchObject([{ extensions: { code: "authentication-required" } }]);
  });

  test("shows users only themselves if listing users is restricted to admins", async () => {
    await app.restart({ USERS_ACCESS: "admin" });
    const add = async (name: string) =>
      String(
        (
          await json(
            await app.as("admin", "/v1/users", post({ name, email: `${name}@example.com` })),
          )
        )["id"],
      );
    const [ada, bob] = [await add("ada"), await add("bob")];
    const { id } = await addFlight(app);
    await app.as("user", "/v1/api/bookings", post(bookingBody(id)), ada);
    const node = "query ($id: ID!) { node(id: $id) { ... on User { name } } }";
    const me: Asker = ["user", ada];
    expect(await dataOf(app, me, node, { id: globalId("User", ada) })).toEqual({
      node: { name: "ada" },
    });
    expect(await dataOf(app, me, node, { id: globalId("User", bob) })).toEqual({ node: null });
    expect(await dataOf(app, me, "{ me { name } bookings { nodes { user { name } } } }")).toEqual({
      me: { name: "ada" },
      bookings: { nodes: [{ user: { name: "ada" } }] },
    });
    expect((await ask(app, me, "{ users { totalCount } }")).errors).toMatchObject([
      { extensions: { code: "insufficient-scope" } },
    ]);
  });

  test("finds flights by node without a token, and rejects invalid global ids", async () => {
    const node = "query ($id: ID!) { node(id: $id) { __typename id } }";
    expect(await dataOf(app, null, node, { id: globalId("Flight", 1) })).toEqual({
      node: { __typename: "Flight", id: globalId("Flight", 1) },
    });
    for (const id of ["x", "9", "1e0", "1.0", "01", "-1"]) {
      expect(await dataOf(app, null, node, { id: globalId("Flight", id) })).toEqual({ node: null });
    }
    for (const id of [
      "",
      "x",
      globalId("Nothing", 1),
      globalId("Query", 1),
      globalId("Passenger", 1),
      globalId("Flight", ""),
      `${globalId("Flight", 1)} `,
    ]) {
      const { errors } = await ask(app, null, node, { id });
      expect(errors).toMatchObject([{ extensions: { code: "invalid-parameter", status: 400 } }]);
    }
    const ids = Array.from({ length: 101 }, (_, index) => globalId("Flight", index + 1));
    const many = await ask(app, null, "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", { ids });
    expect(many.errors).toMatchObject([{ extensions: { code: "invalid-parameter" } }]);
  });

  test("answers null and an error for each malformed id of nodes, and finds the others", async () => {
    const [one, two] = [globalId("Flight", 1), globalId("Flight", 2)];
    const ids = ["x", one, globalId("Passenger", 1), two, "", globalId("Flight", "x"), one];
    const nodes = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }";
    const { data, errors = [] } = await ask(app, null, nodes, { ids });
    expect(data).toEqual({ nodes: [null, { id: one }, null, null, null, null, { id: one }] });
    expect(errors.map(({ path }) => path)).toEqual([0, 2, 4].map((index) => ["nodes", index]));
    for (const { extensions } of errors) {
      expect(extensions).toMatchObject({ code: "invalid-parameter", status: 400 });
    }
    expect((await ask(app, null, nodes, { ids: ["x"] })).data).toEqual({ nodes: [null] });
  });

  test("hides the message of a server error", async () => {
    Object.assign(app.services.flights, {
      find: () => Promise.reject(new Error("the password is swordfish")),
    });
    const query = "{ flight(flightId: 1) { id } flights { totalCount } }";
    const answer = await ask(app, null, query);
    expect(answer.errors).toMatchObject([
      { path: ["flight"], extensions: { code: "internal", status: 500 } },
    ]);
    expect(JSON.stringify(answer)).not.toContain("swordfish");
    expect(answer.data).toMatchObject({ flight: null, flights: { totalCount: 1 } });
  });
});
