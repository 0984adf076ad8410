import { beforeAll, describe, expect, test } from "bun:test";

import fc from "fast-check";
import { buildSchema, getOperationAST, parse } from "graphql";

import { compiledQueries, runsBeforeCompiling } from "../../../src/web/graphql/compiled.ts";
import { limitErrors } from "../../../src/web/graphql/limits.ts";
import { addFlight, bookingBody, post } from "../../support/flights.ts";
import { postQuery, sendAs } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";
import { forAllAsync, runs } from "../../support/runs.ts";

const queries: readonly (readonly [string, Record<string, unknown>?])[] = [
  ["{ __typename }"],
  ["{ b: __typename a: __typename }"],
  ["{ flight(flightId: 1) { createdAt id price { currency amount } __typename cabinClass } }"],
  ["query ($id: Int!) { flight(flightId: $id) { flightId } }", { id: 2 }],
  ["query ($id: Int = 3) { flight(flightId: $id) { flightId } }"],
  ["query ($id: Int!) { flight(flightId: $id) { flightId } }", { id: "2" }],
  [
    "query ($with: Boolean!) { flight(flightId: 1) { id @include(if: $with) airline @skip(if: $with) } }",
    { with: true },
  ],
  [
    "query ($with: Boolean!) { flight(flightId: 1) { id @include(if: $with) airline @skip(if: $with) } }",
    { with: false },
  ],
  [
    "{ flights(first: 2) { ...P nodes { ...F id } } } fragment F on Flight { airline price { ...M } } fragment M on Price { amount } fragment P on FlightConnection { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } }",
  ],
  [
    "query ($after: String) { flights(last: 2, before: $after) { edges { cursor node { flightId } } } }",
    { after: null },
  ],
  ["{ a: flights(first: 1) { nodes { id } } b: flights(last: 1) { nodes { flightId } } }"],
  ["{ flights(first: 1) { nodes { id } nodes { flightId } } flights(first: 1) { totalCount } }"],
  [
    'query ($c: CabinClass) { searchFlights(origin: "JFK", destination: "LHR", departureDate: "2026-12-21", cabinClass: $c) { totalResults flights { flightNumber cabinClass } } }',
    { c: "economy" },
  ],
  [
    'query ($c: CabinClass) { searchFlights(origin: "JFK", destination: "LHR", departureDate: "2026-12-21", cabinClass: $c) { totalResults } }',
    { c: "none" },
  ],
  [
    "{ bookings { totalCount nodes { reference totalPrice user { name } passengers { firstName passportNumber } flight { price { amount } } cancellation { refund { amount } } } } }",
  ],
  [
    '{ node(id: "RmxpZ2h0OjE=") { __typename id ... on Flight { airline } ... on Booking { reference } } }',
  ],
  ['{ nodes(ids: ["RmxpZ2h0OjE=", "RmxpZ2h0Ojk5"]) { id ... on Node { __typename } } }'],
  ['{ nodes(ids: ["x", "RmxpZ2h0OjE="]) { id } }'],
  ['{ node(id: "x") { id } flight(flightId: 1) { id } }'],
  ["{ flights(first: -1) { totalCount } flight(flightId: 1) { id } }"],
  ["{ users { totalCount } }"],
  ["{ me { name } flight(flightId: 77) { id } }"],
  [
    '{ __schema { queryType { name fields { name args { name type { name kind ofType { name } } } } } } __type(name: "Flight") { description } }',
  ],
];

/** Selections of a flight: fields in random order and number, some with conditions, some in fragments. */
const { flight } = fc.letrec<{ flight: string; part: string }>((tie) => ({
  part: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("id", "flightId", "airline", "origin", "createdAt") },
    { weight: 2, arbitrary: fc.constantFrom("price { amount }", "price { currency amount }") },
    { weight: 1, arbitrary: fc.constantFrom("price { ...P }", "x: airline", "y: origin") },
    { weight: 2, arbitrary: fc.constantFrom("...F", "...G", "... on Node { id }") },
    { weight: 1, arbitrary: tie("flight").map((below) => `... on Flight { ${below} }`) },
  ),
  flight: fc
    .array(fc.tuple(tie("part"), condition()), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.map(([part, when]) => conditional(part, when)).join(" ")),
}));

function condition() {
  const none = { weight: 4, arbitrary: fc.constant("") };
  const names = ["@include(if: $a)", "@skip(if: $a)", "@include(if: $b)", "@skip(if: true)"];
  return fc.oneof(none, { weight: 1, arbitrary: fc.constantFrom(...names) });
}

/** Inserts the directive before the selection set. */
function conditional(part: string, when: string): string {
  const brace = part.indexOf(" {");
  return brace < 0 ? `${part} ${when}` : `${part.slice(0, brace)} ${when}${part.slice(brace)}`;
}

const documents = fc
  .record({
    withConditions: fc.boolean(),
    lists: fc.array(flight, { minLength: 1, maxLength: 3 }),
    fragment: flight.filter((text) => !text.includes("...F") && !text.includes("...G")),
    other: flight.filter((text) => !text.includes("...G")),
  })
  .map(({ withConditions, lists, fragment, other }) => {
    const operations = lists.map((below, index) =>
      [
        `flight(flightId: 1) { ${below} }`,
        `flights(first: 2) { nodes { ${below} } edges { node { ${below} } } }`,
        `node(id: "RmxpZ2h0OjE=") { ... on Flight { ${below} } id }`,
      ].at(index % 3),
    );
    // Spread each fragment once: an unused fragment is invalid.
    const text = `query ($a: Boolean = true, $b: Boolean = false) { ${operations.join(" ")}
      z: flight(flightId: 2) { ...F ...G price { ...P } id @include(if: $a) @skip(if: $b) } }
      fragment F on Flight { ${fragment} } fragment G on Flight { ${other} } fragment P on Price { currency amount }`;
    if (withConditions) return text;
    return text
      .replaceAll(/@\w+\(if: [$\w]+\)/g, "")
      .replace("($a: Boolean = true, $b: Boolean = false)", "");
  })
  .filter((text) => limitErrors(parse(text)).length === 0);

// Responses are compared as text: the order of fields matters.
describe("compiled queries", () => {
  const app = appForAll();
  beforeAll(async () => {
    for (const number of [1, 2, 3]) await addFlight(app, { flightNumber: `SK${number}` });
    for (const id of [1, 2]) await app.as("user", "/v1/api/bookings", post(bookingBody(id, 2)));
  });

  test.each(queries)(
    "return the same response to %s as the interpreter",
    async (query, variables = {}) => {
      for (const accept of ["application/json", "application/graphql-response+json"]) {
        const answers: string[] = [];
        // The first runs are interpreted, the last two compiled.
        for (let run = 0; run < runsBeforeCompiling + 2; run += 1) {
          const response = await sendAs(app, "user", postQuery(query, variables, { accept }));
          answers.push(`${response.status} ${await response.text()}`);
        }
        expect(new Set(answers).size).toBe(1);
      }
    },
  );

  test("keep the order of fields if a field is conditional and in a fragment", async () => {
    const query = `query ($a: Boolean!) {
      flight(flightId: 1) { flightId @include(if: $a) flightNumber ...f } } fragment f on Flight { flightId }`;
    for (let run = 0; run < runsBeforeCompiling + 2; run += 1) {
      for (const [a, flight] of [
        [true, '{"flightId":1,"flightNumber":"SK1"}'],
        [false, '{"flightNumber":"SK1","flightId":1}'],
      ] as const) {
        const response = await sendAs(app, null, postQuery(query, { a }));
        expect(await response.text()).toBe(`{"data":{"flight":${flight}}}`);
      }
    }
  });

  test("return the same bytes as the interpreter for random queries", async () => {
    const variables = fc.record({ a: fc.boolean(), b: fc.boolean() });
    await forAllAsync(runs(100), [documents, variables], async (query, given) => {
      // Ends the window in which the work of a user is limited.
      app.clock.advance(10_000);
      const answer = async () => (await sendAs(app, "user", postQuery(query, given))).text();
      const interpreted = await answer();
      expect(interpreted).toStartWith('{"data":');
      for (let run = 1; run < runsBeforeCompiling; run += 1) await answer();
      expect(await answer()).toBe(interpreted);
    });
  });

  test("are bounded in size, with fragments expanded", async () => {
    const schema = buildSchema("type Query { one: Query other: Query name: String }");
    const doubled = (levels: number) =>
      `{ ...F0 } ${Array.from({ length: levels }, (_, n) => `fragment F${n} on Query { one { ...F${n + 1} } other { ...F${n + 1} } }`).join(" ")} fragment F${levels} on Query { name }`;
    for (const [levels, isCompiled] of [
      [4, true],
      [9, false],
      [200, false],
    ] as const) {
      const compiled = compiledQueries(schema);
      const document = parse(doubled(levels));
      const operation = getOperationAST(document);
      if (!operation) throw new Error("The document has no operation");
      let result: unknown = null;
      for (let run = 0; run <= runsBeforeCompiling; run += 1) {
        result = await compiled(operation, { schema, document });
      }
      expect(result !== null).toBe(isCompiled);
    }
  });

  test("are selected by operation name", async () => {
    const query = "query A { flight(flightId: 1) { id } } query B { __typename }";
    for (let run = 0; run < runsBeforeCompiling + 2; run += 1) {
      for (const [operationName, key] of [
        ["A", "flight"],
        ["B", "__typename"],
      ] as const) {
        const answer: unknown = await (
          await app.fetch("/graphql", post({ query, operationName }))
        ).json();
        expect(answer).toHaveProperty(`data.${key}`);
      }
    }
  });
});
