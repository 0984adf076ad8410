import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import {
  buildSchema,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from "graphql";

import { startApp } from "../../support/app.ts";

import type { Json } from "./json.ts";

/** The keywords of JSON Schema that the program's definitions use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly Json[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly example?: Json;
  readonly schema: Schema;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A REST operation, as the program's OpenAPI document describes it. */
export interface Operation {
  readonly method: string;
  /** A parameter that names a thing stands for one that exists: `/v1/users/{user}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Null for an operation without a JSON body. */
  readonly body: Schema | null;
}

const { paths, components } = await documentOfProgram();

async function documentOfProgram(): Promise<Document> {
  const app = await startApp({}, undefined, { dialect: "sqlite" });
  const document: Document = JSON.parse(await (await app.fetch("/openapi.json")).text());
  await app.stop();
  return document;
}

/** All that is documented, so that a new route is fuzzed too. */
export const operations: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
    method: method.toUpperCase(),
    path: path.replaceAll(/(\w+?)(s?)\/\{id\}/g, "$1$2/{$1}"),
    parameters,
    body: requestBody?.content["application/json"]?.schema ?? null,
  })),
);

/** The schema of GraphQL. */
export const graphqlSchema = buildSchema(
  readFileSync(join(import.meta.dir, "../../../schema.graphql"), "utf8"),
);

/** An input type of GraphQL as JSON Schema. */
export function schemaOf(type: GraphQLInputType): Schema {
  if (isNonNullType(type)) return schemaOf(type.ofType);
  if (isListType(type)) return { type: "array", items: schemaOf(type.ofType) };
  if (isEnumType(type)) return { enum: type.getValues().map(({ name }) => name) };
  if (!isInputObjectType(type)) {
    return { type: { Int: "integer", Boolean: "boolean" }[type.name] ?? "string" };
  }
  const fields = Object.values(type.getFields());
  return {
    type: "object",
    required: fields.filter((field) => isNonNullType(field.type)).map(({ name }) => name),
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOf(field.type)])),
  };
}

/** Values that no schema tells: what is accepted, not taken yet, or sent nowhere. */
const byName: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  name: fc.oneof(fc.constantFrom("Ada", "Jos\u00e9"), {
    weight: 3,
    arbitrary: fc.stringMatching(/^[a-z][a-z0-9]{4,9}$/),
  }),
  email: fc.uuid().map((id) => `${id}@example.com`),
  contactEmail: fc.constant("ada@example.com"),
  firstName: fc.constantFrom("Ada", "Jos\u00e9", "\u738b"),
  lastName: fc.constantFrom("Lovelace", "O'Neil"),
  dateOfBirth: fc.constantFrom("1990-04-12", "2024-02-29"),
  // A passport that the oracle would know again anywhere.
  passportNumber: fc.nat(9_999_999).map((number) => `FZ${String(number).padStart(7, "0")}`),
  flightId: fc.integer({ min: 2, max: 21 }),
  // RFC 6761: no name below `.invalid` exists.
  url: fc.constantFrom("https://hook.invalid/a", "https://hook.invalid/b?c=%20"),
  client_id: fc.constantFrom("cl_1", "cl_019377b07d4070008000000000000001"),
  client_secret: fc.constantFrom("s", "x".repeat(5_000)),
};

/** A value as a schema wants it; `name`: of the field or parameter. */
export function valueOf(schema: Schema, name = ""): fc.Arbitrary<Json> {
  const known = byName[name];
  if (known !== undefined) return known;
  if (schema.$ref !== undefined) {
    return valueOf(components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  const listed = schema.enum ?? schema.examples;
  if (listed !== undefined) return fc.constantFrom(...listed);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, name)));
  switch (schema.type) {
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(valueOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 1,
        maxLength: 3,
      });
    case "integer":
      return fc.integer({ min: schema.minimum ?? 1, max: schema.maximum ?? 100 });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.constant("a".repeat(schema.minLength ?? 1));
  }
}

/** All that is required, and a little of the rest: the more there is, the likelier is a contradiction. */
function objectOf({ properties = {}, required = [] }: Schema): fc.Arbitrary<Json> {
  const fields = Object.entries(properties);
  const optional = fields.filter(([name]) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(optional.length, 3) }).chain((chosen) => {
    const given = fields.filter(
      ([name]) => required.includes(name) || chosen.some(([one]) => one === name),
    );
    return fc
      .tuple(...given.map(([name, field]) => valueOf(field, name)))
      .map((values): Json =>
        Object.fromEntries(given.map(([name], index) => [name, values[index] ?? null])),
      );
  });
}
