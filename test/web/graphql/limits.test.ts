import { describe, expect, test } from "bun:test";

import { getIntrospectionQuery } from "graphql";

import { ask, at, dataOf, postQuery, sendAs } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";

describe("limits", () => {
  const app = appForAll();

  const repeat = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(" ");
  /** A selection of `levels` levels below a booking or a change of it. */
  const nested = (levels: number, below: "booking" | "changes" = "booking"): string => {
    if (levels === 1) return "status";
    const next = below === "booking" ? "changes" : "booking";
    return `${next} { ${nested(levels - 1, next)} }`;
  };
  const doubled = (levels: number) =>
    `{ ...F0 } ${repeat(levels, (n) => `fragment F${n} on Query { a${n}: __typename ...F${n + 1} ...F${n + 1} }`)} fragment F${levels} on Query { x: __typename y: flight(flightId: 1) { id } }`;

  /** Expects a rejection that names the limit. */
  const rejectsBy = async (limit: string, query: string, variables = {}) => {
    for (const [accept, status] of [
      ["application/json", 200],
      ["application/graphql-response+json", 400],
    ] as const) {
      const response = await sendAs(app, "admin", postQuery(query, variables, { accept }));
      expect(response.status).toBe(status);
      const answer: unknown = await response.json();
      expect(at(answer, "data")).toBeUndefined();
      expect(at(answer, "errors", 0, "extensions")).toMatchObject({
        code: "LIMIT_EXCEEDED",
        status: 400,
        limit,
      });
    }
  };
  const taken = async (query: string, variables = {}) => {
    const { errors } = await ask(app, "admin", query, variables);
    expect(errors).toBeUndefined();
  };

  test("limits depth to 10, counted through fragments [API4-8]", async () => {
    await taken(`{ bookings(first: 0) { nodes { ${nested(8)} } } }`);
    await rejectsBy("depth", `{ bookings(first: 0) { nodes { ${nested(9)} } } }`);
    await rejectsBy(
      "depth",
      `{ bookings(first: 0) { nodes { ... on Booking { ...A } } } }
       fragment A on Booking { changes { booking { ...B } } } fragment B on Booking { ${nested(7)} }`,
    );
  });

  test("limits aliases to 15, counted for each spread of a fragment [API4-9]", async () => {
    await taken(`{ ${repeat(15, (n) => `a${n}: __typename`)} }`);
    await taken(`{ ${repeat(15, (n) => `a${n}: flight(flightId: ${n}) { id }`)} }`);
    await rejectsBy("aliases", `{ ${repeat(16, (n) => `a${n}: flight(flightId: ${n}) { id }`)} }`);
    await rejectsBy("aliases", doubled(20));
  });

  test("limits tokens to 2,000, so deep nesting causes no server error", async () => {
    const nearly = await ask(app, null, `{ ${repeat(1_990, () => "__typename")} }`);
    expect(nearly.errors?.[0]?.message).toBe("Validation aborted.");
    await rejectsBy("tokens", `{ ${repeat(2_001, () => "__typename")} }`);
    await rejectsBy("tokens", `{ flight(flightId: ${"[".repeat(50_000)}`);
    await rejectsBy("depth", `{ ${"node { ".repeat(600)} id ${"}".repeat(601)}`);
  });

  test("limits spreads of fragments to 200, each of which validation compares with every other", async () => {
    await taken(`{ ${repeat(200, () => "...F")} } fragment F on Query { __typename }`);
    await rejectsBy(
      "spreads",
      `{ ${repeat(201, () => "...F")} } fragment F on Query { __typename }`,
    );
  });

  test("limits directives to 20 [API4-10]", async () => {
    await taken(`{ ${repeat(20, () => "__typename @include(if: true)")} }`);
    await rejectsBy("directives", `{ ${repeat(21, () => "__typename @include(if: true)")} }`);
    await rejectsBy("directives", `{ __typename ${"@skip(if: false) ".repeat(200)} }`);
  });

  test("counts complexity by page size: a literal, a variable or the default [API4-15]", async () => {
    const inner = "nodes { seats changes { kind booking { seats changes { kind status } } } }";
    await taken(`{ bookings(first: 20) { ${inner} } }`);
    await rejectsBy(
      "complexity",
      `{ a: bookings(first: 100) { ${inner} } b: bookings(first: 100) { ${inner} } }`,
    );
    const byVariable = `query ($n: Int) { a: bookings(first: $n) { ${inner} } b: bookings(last: $n) { ${inner} } }`;
    await taken(byVariable, { n: 20 });
    await rejectsBy("complexity", byVariable, { n: 100 });
    const byDefault = byVariable.replace("$n: Int", "$n: Int = 100");
    await rejectsBy("complexity", byDefault);
    await taken(byDefault, { n: 1 });
    await rejectsBy("complexity", `{ ${repeat(8, (n) => `b${n}: bookings { ${inner} }`)} }`);
    // A size that is not valid makes up for no other.
    const page = `bookings(first: 100) { ${inner} }`;
    await rejectsBy(
      "complexity",
      `{ a: ${page} b: ${page} c: bookings(first: -500) { ${inner} } }`,
    );
    const many = (count: number, ids: string) =>
      repeat(
        count,
        (n) =>
          `n${n}: nodes(ids: ${ids}) { id ... on Booking { ${repeat(10, () => "seats ")} changes { kind status currency } } }`,
      );
    await rejectsBy("complexity", `query ($ids: [ID!]!) { ${many(15, "$ids")} }`, {
      ids: Array.from({ length: 100 }, () => "x"),
    });
    await rejectsBy("complexity", `{ ${many(8, `[${repeat(100, () => '"x"')}]`)} }`);
  });

  test("counts the complexity of introspection", async () => {
    const fragments = `fragment S on __Schema { types { name fields { name type { ...T fields { name type { ...T } } } } } }
      fragment T on __Type { name description ofType { name description ofType { name description } } }`;
    await taken(`{ __schema { ...S } __type(name: "Flight") { ...T } } ${fragments}`);
    const aliased = repeat(15, (n) => `a${n}: __schema { ...S }`);
    await rejectsBy("complexity", `{ ${aliased} } ${fragments}`);
  });

  test("accepts 100 bookings with all their fields", async () => {
    await taken(`{ bookings(first: 100) { totalCount edges { cursor node { id bookingId reference status seats
      totalPrice currency confirmationSentTo createdAt updatedAt user { id userId name email createdAt }
      passengers { firstName lastName email dateOfBirth passportNumber }
      cancellation { bookingId status cancelledAt refund { amount currency percent fee method status reason } }
      flight { id flightId flightNumber airline origin destination departureTime arrivalTime departureLocal
        arrivalLocal duration durationMinutes cabinClass price { amount currency } seatsAvailable createdAt } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`);
  });

  test("accepts the same field with a selection set 50 times [API4-11]", async () => {
    await taken(`{ ${repeat(50, () => "flights(first: 0) { nodes { id } }")} }`);
    await rejectsBy("repeats", `{ ${repeat(51, () => "flights(first: 0) { nodes { id } }")} }`);
  });

  test.each([
    ["a fragment that spreads itself", "{ ...A } fragment A on Query { ...A }"],
    [
      "two fragments that spread each other",
      "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    ],
    ["an unknown fragment", "{ ...A }"],
    ["a fragment on an unknown type", "{ ...A } fragment A on Nothing { x }"],
  ])("rejects %s as a client error [API4-14]", async (_, query) => {
    const { errors } = await ask(app, null, query);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: "GRAPHQL_VALIDATION_FAILED",
      status: 400,
    });
  });

  test("allows introspection up to a depth [API4-16]", async () => {
    const full = getIntrospectionQuery({
      inputValueDeprecation: true,
      schemaDescription: true,
      oneOf: true,
    });
    expect(at(await dataOf(app, null, full), "__schema", "queryType", "name")).toBe("Query");
    const loop = (levels: number): string =>
      levels === 0 ? "name" : `fields { type { ${loop(levels - 1)} } }`;
    const { errors } = await ask(app, null, `{ __schema { types { ${loop(5)} } } }`);
    expect(errors?.[0]?.extensions["code"]).toBe("GRAPHQL_VALIDATION_FAILED");
  });

  test("hides the schema in production, also in suggestions [API8-8]", async () => {
    for (const env of [{ NODE_ENV: "production" }, { GRAPHIQL: "off" }]) {
      await app.restart(env);
      for (const query of [getIntrospectionQuery(), '{ __type(name: "Query") { name } }']) {
        expect((await ask(app, "admin", query)).errors?.length).toBeGreaterThan(0);
      }
      const { errors } = await ask(app, null, "{ flihgts { nodes { id } } }");
      expect(errors?.map(({ message }) => message)).toEqual([
        'Cannot query field "flihgts" on type "Query".',
      ]);
      expect(await dataOf(app, null, "{ __typename }")).toEqual({ __typename: "Query" });
      const page = await app.fetch("/graphql", { headers: { accept: "text/html" } });
      expect(page.headers.get("content-type")).not.toContain("text/html");
      expect((await app.fetch("/graphql/playground/graphiql.js")).status).toBe(404);
    }
    await app.restart({ NODE_ENV: "production", GRAPHIQL: "on" });
    await taken(getIntrospectionQuery());
    await app.restart();
  });
});
