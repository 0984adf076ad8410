import { describe, expect, test } from "bun:test";

import { ask } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();

const booking =
  "mutation ($input: CreateBookingInput!) { createBooking(input: $input) { reference } }";
const search = `query ($day: Date!) {
  searchFlights(origin: "JFK", destination: "LHR", departureDate: $day) { totalResults }
}`;

describe("an invalid value", () => {
  // [what, query, variables, code]
  test.each([
    ["a number as a date", search, { day: 19 }, "BAD_USER_INPUT"],
    ["a number as an email address", booking, { input: { contactEmail: 19 } }, "BAD_USER_INPUT"],
    [
      "a number literal as a date",
      '{ searchFlights(origin: "JFK", destination: "LHR", departureDate: 19) { page } }',
      {},
      "GRAPHQL_VALIDATION_FAILED",
    ],
  ])("is a client error: %s", async (_, query, variables, code) => {
    const { errors = [] } = await ask(app, "user", query, variables);
    expect(errors.map(({ extensions }) => extensions["code"])).not.toContain("internal");
    expect(errors.map(({ extensions }) => extensions["code"])).toContain(code);
  });

  const passport = 'X1234567; at "input.x"';
  const traveller = { firstName: "Ada", passportNumber: passport };
  test.each([
    ["a missing field", booking, { input: { passengers: [traveller] } }],
    ["a string instead of a list", booking, { input: { passengers: passport } }],
    ["a string instead of an object", booking, { input: passport }],
    ["an unknown enum value", booking, { input: { paymentMethod: passport } }],
    ["a string instead of an Int", booking, { input: { flightId: passport } }],
    [
      "a list instead of a string",
      booking,
      { input: { passengers: [{ passportNumber: [passport] }] } },
    ],
    ["a string literal for an Int", `{ flight(flightId: "X1234567") { id } }`, {}],
    ["a string in a syntax error", `{ me("X1234567") }`, {}],
    ["a block string in a syntax error", `{ me("""X1234567""") }`, {}],
    ["an object literal", `{ flight(flightId: {a: "X1234567"}) { id } }`, {}],
    ["an enum literal", `{ searchFlights(cabinClass: X1234567) { page } }`, {}],
  ])("is not in the error message: %s", async (_, query, variables) => {
    const answer = await ask(app, "user", query, variables);
    expect(answer.errors).not.toBeEmpty();
    expect(JSON.stringify(answer)).not.toContain("X1234567");
  });

  test("is identified by its path", async () => {
    const { errors } = await ask(app, "user", booking, { input: { flightId: passport } });
    expect(errors?.map(({ message }) => message)).toContain(
      'Variable "$input" got invalid value at "input.flightId"; Int cannot represent non-integer value',
    );
  });
});
