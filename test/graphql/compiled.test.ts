import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp, type TestApp } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { postQuery, sendAs } from "../support/graphql.ts";

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
  ['{ node(id: "x") { id } flight(flightId: 1) { id } }'],
  ["{ flights(first: -1) { totalCount } flight(flightId: 1) { id } }"],
  ["{ events { totalCount } }"],
  ["{ me { name } flight(flightId: 77) { id } }"],
  [
    '{ __schema { queryType { name fields { name args { name type { name kind ofType { name } } } } } } __type(name: "Flight") { description } }',
  ],
];

// Bodies are compared as texts: the order of fields is part of the answer.
describe("compiled queries", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
    for (const number of [1, 2, 3]) await addFlight(app, { flightNumber: `SK${number}` });
    for (const id of [1, 2]) await app.as("user", "/v1/api/bookings", post(bookingBody(id, 2)));
  });
  afterAll(() => app.stop());

  test.each(queries)("answer %s as the interpreter does", async (query, variables = {}) => {
    for (const accept of ["application/json", "application/graphql-response+json"]) {
      const answers: string[] = [];
      // The first two runs are interpreted, the others compiled.
      for (let run = 0; run < 5; run += 1) {
        const response = await sendAs(app, "user", postQuery(query, variables, { accept }));
        answers.push(`${response.status} ${await response.text()}`);
      }
      expect(new Set(answers).size).toBe(1);
    }
  });

  test("of one document are told apart by name", async () => {
    const query = "query A { flight(flightId: 1) { id } } query B { __typename }";
    for (let run = 0; run < 4; run += 1) {
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
