import { GraphQLError, Kind, specifiedScalarTypes, type ValueNode } from "graphql";

import type { Builder } from "./builder.ts";

/**
 * The custom scalars, serialized as in REST. The service that uses an input value validates it, so that
 * an error has the same code and names the same field in REST and GraphQL.
 */
export function scalars(builder: Builder): void {
  // Pothos adds these itself, but only when it builds all types at once.
  for (const scalar of specifiedScalarTypes) {
    // Guarantee: GraphQL's own scalars have these names.
    builder.addScalarType(scalar.name as "ID", scalar, {});
  }
  builder.scalarType("DateTime", {
    description:
      "A point in time: ISO 8601 in UTC with milliseconds, for example 2026-11-21T09:12:44.120Z. Arguments can have another offset.",
    specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
    serialize: (time) => time.toISOString(),
    ...text("DateTime"),
  });
  builder.scalarType("Date", {
    description: "A calendar date: YYYY-MM-DD.",
    specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6",
    serialize: (day) => day,
    ...text("Date"),
  });
  builder.scalarType("EmailAddress", {
    description: "An email address of up to 254 characters.",
    specifiedByURL: "https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address",
    serialize: (address) => address,
    ...text("EmailAddress"),
  });
  builder.scalarType("Money", {
    description:
      "An amount of money in major units of its currency: 123.45 US dollars, 1500 yen, 1.234 dinars.",
    specifiedByURL: "https://www.iso.org/iso-4217-currency-codes.html",
    serialize: (amount) => amount,
    // No argument has it.
    parseValue() {
      throw new TypeError("Money cannot be an argument");
    },
  });
}

/** Parses variables and literals. A `GraphQLError`, because a wrong type is a client error. */
function text(name: string) {
  const message = `${name} must be a string`;
  return {
    parseValue(value: unknown): string {
      if (typeof value !== "string") throw new GraphQLError(message);
      return value;
    },
    parseLiteral(node: ValueNode): string {
      if (node.kind !== Kind.STRING) throw new GraphQLError(message, { nodes: node });
      return node.value;
    },
  };
}
