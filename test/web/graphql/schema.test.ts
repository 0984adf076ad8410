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
});
