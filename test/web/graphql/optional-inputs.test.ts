import { beforeAll, describe, expect, test } from "bun:test";

import { getNamedType, isInputObjectType, isRequiredArgument, isRequiredInputField } from "graphql";

import { createSchema } from "../../../src/graphql-schema.ts";
import { addFlight, bookingBody } from "../../support/flights.ts";
import { dataOf } from "../../support/graphql.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll();
beforeAll(async () => {
  await addFlight(app);
});

/** The required arguments of the fields that have any. */
const required: Readonly<Record<string, string>> = {
  searchFlights: 'origin: "JFK", destination: "LHR", departureDate: "2026-12-21"',
  flightCalendar: 'origin: "JFK", destination: "LHR", from: "2026-12-20", to: "2026-12-21"',
};
const selections: Readonly<Record<string, string>> = {
  searchFlights: "{ totalResults page pageSize }",
  flightCalendar: "{ days { date flightCount } }",
};
const selection = (name: string) => selections[name] ?? "{ totalCount pageInfo { hasNextPage } }";

describe("null for an optional input", () => {
  test("means that it is absent, in every query", async () => {
    let tried = 0;
    const schema = await createSchema(app.services);
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const given = required[field.name] ?? "";
      for (const argument of field.args.filter((each) => !isRequiredArgument(each))) {
        const query = (more: string) =>
          `{ ${field.name}(${given} ${more}) ${selection(field.name)} }`;
        const absent = await dataOf(app, "admin", query("").replace("( )", ""));
        expect(await dataOf(app, "admin", query(`${argument.name}: null`))).toEqual(absent);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(20);
  });

  test("means that it is absent, in every mutation", async () => {
    const schema = await createSchema(app.services);
    const inputs = Object.values(schema.getMutationType()?.getFields() ?? {})
      .flatMap(({ args }) => args)
      .flatMap((argument) => {
        const type = getNamedType(argument.type);
        const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
        return [
          ...(isRequiredArgument(argument) ? [] : [argument.name]),
          ...fields.filter((each) => !isRequiredInputField(each)).map(({ name }) => name),
        ];
      });
    expect([...new Set(inputs)].toSorted()).toEqual(
      [
        "dateOfBirth",
        "email",
        "firstName",
        "lastName",
        "passportNumber",
        "reason",
        "expectedPrice",
        "hold",
        "idempotencyKey",
        "amount",
        "input",
        "note",
      ].toSorted(),
    );
    const create = `mutation ($input: CreateBookingInput!) {
      createBooking(input: $input, idempotencyKey: null) { status expiresAt }
    }`;
    const input = { ...bookingBody(1), hold: null, expectedPrice: null };
    expect(await dataOf(app, "user", create, { input })).toEqual({
      createBooking: { status: "confirmed", expiresAt: null },
    });
    const user =
      'mutation { createUser(input: { name: "Bo", email: "bo@example.com" }, idempotencyKey: null) { name } }';
    expect(await dataOf(app, "admin", user)).toEqual({ createUser: { name: "Bo" } });
  });
});
