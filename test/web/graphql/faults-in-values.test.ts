import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp, type TestApp } from "../../support/app.ts";
import { ask } from "../../support/graphql.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const booking =
  "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { reference } }";
const search = `query ($day: Date!) {
  searchFlights(origin: "JFK", destination: "LHR", departureDate: $day) { totalResults }
}`;

describe("a value that GraphQL refuses", () => {
  // [what, query, variables, code]
  test.each([
    ["a date that is a number", search, { day: 19 }, "BAD_USER_INPUT"],
    ["an address that is a number", booking, { input: { contactEmail: 19 } }, "BAD_USER_INPUT"],
    [
      "a date in the query that is a number",
      '{ searchFlights(origin: "JFK", destination: "LHR", departureDate: 19) { page } }',
      {},
      "GRAPHQL_VALIDATION_FAILED",
    ],
  ])("is the client's fault: %s", async (_, query, variables, code) => {
    const { errors = [] } = await ask(app, "user", query, variables);
    expect(errors.map(({ extensions }) => extensions["code"])).not.toContain("internal");
    expect(errors.map(({ extensions }) => extensions["code"])).toContain(code);
  });

  const passport = 'X1234567; at "input.x"';
  const traveller = { firstName: "Ada", passportNumber: passport };
  test.each([
    ["a field left out", booking, { input: { passengers: [traveller] } }],
    ["no list", booking, { input: { passengers: passport } }],
    ["no object", booking, { input: passport }],
    ["no such word", booking, { input: { paymentMethod: passport } }],
    ["no whole number", booking, { input: { flightId: passport } }],
    ["no string", booking, { input: { passengers: [{ passportNumber: [passport] }] } }],
    ["a number in the query", `{ flight(flightId: "X1234567") { id } }`, {}],
    ["a text in the query", `{ me("X1234567") }`, {}],
    ["a block text in the query", `{ me("""X1234567""") }`, {}],
    ["an object in the query", `{ flight(flightId: {a: "X1234567"}) { id } }`, {}],
    ["a word in the query", `{ searchFlights(cabinClass: X1234567) { page } }`, {}],
  ])("is not repeated, since it may be a passport: %s", async (_, query, variables) => {
    const answer = await ask(app, "user", query, variables);
    expect(answer.errors).not.toBeEmpty();
    expect(JSON.stringify(answer)).not.toContain("X1234567");
  });

  test("is told by its place", async () => {
    const { errors } = await ask(app, "user", booking, { input: { flightId: passport } });
    expect(errors?.map(({ message }) => message)).toContain(
      'Variable "$input" got invalid value at "input.flightId"; Int cannot represent non-integer value',
    );
  });
});
