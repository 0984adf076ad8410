import { describe, expect, test } from "bun:test";

import { buildSchema, getVariableValues, Kind, parse } from "graphql";

import { variableErrors } from "../../../src/web/graphql/variables.ts";
import { timesAsLong } from "../../support/processor-time.ts";

const schema = buildSchema(`
  enum Cabin { ECONOMY BUSINESS }
  input Passenger { firstName: String!, age: Int = 1 }
  input Booking { flightId: Int!, passengers: [Passenger!]!, cabin: Cabin, hold: Boolean = false }
  input Either @oneOf { id: ID, name: String }
  type Query { search(booking: Booking, either: Either, day: String!, page: Int! = 1): Int }
`);
const [operation] = parse(
  `query ($booking: Booking, $either: Either, $day: String!, $page: Int! = 1) {
    search(booking: $booking, either: $either, day: $day, page: $page)
  }`,
).definitions;

if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");

type Variables = Readonly<Record<string, unknown>>;
const { variableDefinitions = [] } = operation;
const graphqlErrors = (variables: Variables, hideSuggestions = false) =>
  getVariableValues(schema, variableDefinitions, variables, { maxErrors: 50, hideSuggestions })
    .errors ?? [];
const ownErrors = (variables: Variables, hideSuggestions = false) =>
  variableErrors(schema, operation, variables, hideSuggestions);

const misspelt = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`flightI${index}`, 1]));

describe("the errors of variables", () => {
  test.each([
    ["all valid", { day: "x", booking: { flightId: 1, passengers: [{ firstName: "a" }] } }],
    ["a missing variable", {}],
    ["null for a variable that must not be", { day: null, page: null }],
    ["a name of Object's prototype", { toString: 1, day: "x", booking: { constructor: 1 } }],
    ["no object", { day: "x", booking: [1], either: 1 }],
    [
      "wrong types",
      { day: 1, booking: { flightId: "x", passengers: [1, { firstName: [] }, null] } },
    ],
    ["unknown fields and values", { day: "x", booking: { flightI: 1, cabin: "ECONOM", hold: 3 } }],
    ["a single value for a list", { day: "x", booking: { flightId: 1, passengers: { age: "x" } } }],
    ["several of which one may be given", { day: "x", either: { id: 1, name: "x" } }],
    ["50 errors", { day: "x", booking: { passengers: [], ...misspelt(49) } }],
  ])("are those of graphql-js, without values: %s", (_, variables) => {
    for (const hideSuggestions of [false, true]) {
      const expected = graphqlErrors(variables, hideSuggestions);
      const errors = ownErrors(variables, hideSuggestions);
      // Such as `Variable "$x" got invalid value VALUE at "x.y"; Int cannot represent non-integer value: VALUE`.
      const withoutValues = expected.map(({ message, originalError }) => {
        if (originalError === undefined) return message;
        const [, start, place = ""] =
          /^(Variable "\$\w+" got invalid value) .*?( at "[^"]+")?; /.exec(message) ?? [];
        const reason = originalError.message.replace(/( cannot represent [^:]*): .*/, "$1");
        return `${start}${place}; ${reason.replace(/^Value ".*" does/, "The value does")}`;
      });
      expect(errors.map(({ message }) => message)).toEqual(withoutValues);
    }
  });

  test("end after 50, and cost less than those of graphql-js however large the values are", async () => {
    const booking = { ...misspelt(6_000), flightId: "x".repeat(50_000) };
    const own = () => expect(ownErrors({ day: "x", booking })).toHaveLength(51);
    const graphqlJs = () => graphqlErrors({ day: "x", booking });
    expect(await timesAsLong(graphqlJs, own, 0.5)).toBeLessThanOrEqual(0.5);
  });
});
