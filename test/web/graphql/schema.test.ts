import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
} from "graphql";

import { changesThatBreak, printedSchema } from "../../../scripts/schema.ts";
import { createSchema } from "../../../src/graphql-schema.ts";
import { startApp } from "../../support/app.ts";

const app = await startApp();
const schema = await createSchema(app.services);
await app.stop();
const committed = await Bun.file(join(import.meta.dir, "../../../schema.graphql")).text();

describe("schema.graphql", () => {
  test("has no breaking changes; if intended, run `bun run schema --breaking`", () => {
    expect(changesThatBreak(committed, printedSchema(schema))).toEqual([]);
  });

  test("matches the code; `bun run schema` writes it [API9-2]", () => {
    expect(committed).toBe(printedSchema(schema));
  });

  test("describes breaking changes", () => {
    const after = committed.replace(
      /^type SeatsChange \{[^}]+\}/m,
      "type SeatsChange { flightId: ID! }",
    );
    expect(changesThatBreak(committed, after)).toEqual([
      "SeatsChange.flight was removed.",
      "SeatsChange.seatsAvailable was removed.",
      "SeatsChange.flightId changed type from Int! to ID!.",
    ]);
  });
});

describe("the GraphQL schema", () => {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith("__") && !isSpecifiedScalarType(type),
  );

  test("describes every type, field, value and argument", () => {
    const undescribed = types.flatMap((type) => {
      const places: string[] = type.description ? [] : [type.name];
      if (isEnumType(type)) return places;
      if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return places;
      for (const field of Object.values(type.getFields())) {
        if (!field.description) places.push(`${type.name}.${field.name}`);
        if (!("args" in field)) continue;
        for (const { name, description } of field.args) {
          if (!description) places.push(`${type.name}.${field.name}(${name})`);
        }
      }
      return places;
    });
    expect(undescribed).toEqual([]);
  });

  test("has the fields of the specification", () => {
    const printed = printedSchema(schema).replaceAll(/"""[\s\S]*?"""\n?|^ *"[^\n]*"\n/gm, "");
    const flat = printed.replaceAll(/\s+/g, " ");
    for (const part of [
      "booking(bookingId: ID!): Booking ",
      "flight(flightId: Int!): Flight ",
      "me: User ",
      "node( id: ID!): Node ",
      "createBooking(",
      "cancelBooking(bookingId: ID!): Cancellation!",
      "createUser(",
      "seatsChanged(flightId: Int!): SeatsChange!",
    ]) {
      expect(flat.replaceAll("( ", "(").replaceAll(" )", ")")).toContain(
        part.replaceAll("( ", "("),
      );
    }
    const query = schema.getQueryType()?.getFields() ?? {};
    const { searchFlights } = query;
    expect(
      searchFlights?.args
        .map(
          ({ name, type, defaultValue }) =>
            `${name}: ${String(type)}${defaultValue === undefined ? "" : ` = ${JSON.stringify(defaultValue)}`}`,
        )
        .toSorted(),
    ).toEqual([
      "cabinClass: CabinClass",
      "departureDate: Date!",
      "destination: String!",
      "limit: Int = 20",
      "origin: String!",
      "page: Int = 1",
      "passengers: Int = 1",
    ]);
    expect(Object.keys(query).toSorted()).toEqual([
      "booking",
      "bookings",
      "flight",
      "flightCalendar",
      "flights",
      "me",
      "node",
      "nodes",
      "searchFlights",
      "users",
    ]);
  });
});
