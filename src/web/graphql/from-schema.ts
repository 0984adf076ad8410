import { OptionalKind, type TSchema, type TUnsafe } from "@sinclair/typebox";

import { graphqlScalarOf } from "../schema.ts";

import type { ArgumentBuilder, ArgumentOf, Builder, FieldBuilder } from "./builder.ts";

/** The name of a scalar, or what the builder has returned for a type; in brackets for a list of it. */
type FieldType = string | object | readonly [string | object];

/** GraphQL types that do not follow from the schema: enumerations, other objects, and where GraphQL differs. */
type Types<Name extends string> = { readonly [Field in Name]?: FieldType };

/** The GraphQL type of a response of REST, with the same fields and descriptions. */
export function objectOf<Value extends object>(
  builder: Builder,
  schema: TUnsafe<Value>,
  types: Types<keyof Value & string> = {},
  name = String(schema.$id),
) {
  return builder.objectRef<Value>(name).implement({
    description: schema.description ?? "",
    fields: (t) => fieldsOf(t, schema, fieldsExcept(schema), types),
  });
}

/** Some fields of a response of REST, for a type that has others too. */
export function fieldsOf<
  Value extends Pick<Response, Name>,
  Response extends object,
  Name extends keyof Response & string,
>(
  t: FieldBuilder<Value>,
  schema: TUnsafe<Response>,
  names: readonly Name[],
  types: Types<Name> = {},
) {
  const properties = propertiesOf(schema);
  return Object.fromEntries(
    names.map((name) => {
      const property = properties[name] ?? {};
      const value = withoutNull(property);
      const description = property.description ?? value.description;
      const type = types[name] ?? typeOf(value);
      const nullable = value !== property || OptionalKind in property;
      // For `cost.ts`.
      const extensions = { maxItems: value.maxItems };
      const options = { type, nullable, description, extensions };
      // Response is the type of the schema; Pothos cannot compare a name in a variable.
      return [name, t.expose(name as never, options as never)];
    }),
  );
}

/** The names of all fields of a response but these. */
export function fieldsExcept<Value extends object, Name extends keyof Value & string>(
  schema: TUnsafe<Value>,
  ...except: readonly Name[]
) {
  const excluded: readonly string[] = except;
  // Guarantee: the properties of a schema are the fields of its values.
  return Object.keys(propertiesOf(schema)).filter((name) => !excluded.includes(name)) as Exclude<
    keyof Value & string,
    Name
  >[];
}

/** The GraphQL input with the fields of a request of REST, whose reader checks the values. */
export function inputOf<Value extends object>(
  builder: Builder,
  name: string,
  schema: TSchema & { readonly static: Value },
  types: Types<keyof Value & string> = {},
) {
  const required: readonly string[] = schema["required"] ?? [];
  const given: Readonly<Record<string, FieldType | undefined>> = types;
  return builder.inputType(name, {
    description: schema.description ?? "",
    fields: (t) =>
      Object.fromEntries(
        Object.entries(propertiesOf(schema)).map(([field, property]) => {
          const type = given[field] ?? typeOf(withoutNull(property));
          const { description } = property;
          // Pothos cannot compare a type in a variable.
          const options = { type, required: required.includes(field), description } as never;
          return [field, t.field(options)];
        }),
      ),
  });
}

/** The GraphQL arguments with the query parameters of an operation of REST, whose reader checks the values. */
export function argumentsOf<Value extends object>(
  arg: ArgumentBuilder,
  query: TUnsafe<Value>,
  types: Types<keyof Value & string> = {},
) {
  const required: readonly string[] = query["required"] ?? [];
  const given: Readonly<Record<string, FieldType | undefined>> = types;
  const entries = Object.entries(propertiesOf(query)).map(([name, property]) => {
    const type = given[name] ?? typeOf(property);
    const { description, default: defaultValue } = property;
    // Pothos cannot compare a type in a variable.
    const options = { type, required: required.includes(name), description, defaultValue } as never;
    return [name, arg(options)];
  });
  // Guarantee: the properties of a schema are the fields of its values.
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Value]-?: ArgumentOf<Value[Name]>;
  };
}

/** The enumeration of the words that a field can have. */
export function enumOf<Value extends object, Name extends keyof Value & string>(
  builder: Builder,
  name: string,
  schema: TUnsafe<Value>,
  field: Name,
) {
  const { description = "", enum: values } = withoutNull(propertiesOf(schema)[field] ?? {});
  // Guarantee: the words of the schema are the type of the field.
  return builder.enumType(name, { description, values: values as readonly Words<Value[Name]>[] });
}

type Words<Value> = Extract<Value, string>;

const propertiesOf = (schema: TSchema): Readonly<Record<string, Property>> => schema["properties"];

/** What is read of the schema of a field. */
interface Property {
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Property[];
  readonly items?: Property;
  readonly maxItems?: number;
}

/** The same object if it cannot be null. */
function withoutNull(property: Property): Property {
  const [value, other] = property.anyOf ?? [];
  return value !== undefined && other?.type === "null" ? value : property;
}

const scalars: Readonly<Record<string, string>> = {
  boolean: "Boolean",
  integer: "Int",
  number: "Float",
  string: "String",
};

function typeOf(value: Property): FieldType {
  return value.type === "array" ? [scalarOf(value.items ?? {})] : scalarOf(value);
}

/** Throws for an object or a union, whose type must be given. */
function scalarOf(value: Property): string {
  if (value.format === "date-time") return "DateTime";
  if (value.format === "date") return "Date";
  const scalar = graphqlScalarOf(value) ?? scalars[value.type ?? ""];
  if (scalar === undefined) throw new Error(`No GraphQL type: ${JSON.stringify(value)}`);
  return scalar;
}
