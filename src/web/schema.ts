import {
  Kind,
  type OptionalKind,
  type Static,
  type TSchema,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";

/** Documentation of a value in the OpenAPI document. A text is its description. */
type Annotations =
  | string
  | {
      readonly description?: string;
      readonly examples?: readonly unknown[];
      readonly maxItems?: number;
    };

const annotated = (annotations: Annotations) =>
  typeof annotations === "string" ? { description: annotations } : annotations;

/** The fields of a resource by name, in the order of responses. */
type Fields = Readonly<Record<string, TSchema>>;

type OptionalIn<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { [OptionalKind]: "Optional" } ? Name : never;
}[keyof F];

/** The type of the values that have these fields. */
export type Of<F extends Fields> = {
  readonly [Name in keyof F as Exclude<Name, OptionalIn<F>>]: F[Name]["static"];
} & { readonly [Name in keyof F as Extract<Name, OptionalIn<F>>]?: F[Name]["static"] };

/** The values of these fields, without what else an object has. */
export function shown<F extends Fields>(fields: F, from: Of<F>): Of<F> {
  const values: Readonly<Record<string, unknown>> = from;
  // Guarantee: each field has the value of its type.
  return Object.fromEntries(Object.keys(fields).map((name) => [name, values[name]])) as Of<F>;
}

/**
 * A resource, or an object in one, as REST shows it. Everything else is made from it: its type is `Static<typeof …>`,
 * the table stores its `properties`, and `web/graphql/from-schema.ts` makes its GraphQL type.
 */
export function resource<F extends Fields>(name: string, description: string, fields: F) {
  const schema = Type.Unsafe<Of<F>>(Type.Object(fields, { $id: name, description }));
  // Guarantee: `Type.Object` keeps the fields as its properties.
  return schema as typeof schema & { readonly properties: F };
}

TypeRegistry.Set("Instant", (_, value) => value instanceof Date);
// Any text: during a rolling upgrade, a newer instance stores words that this version does not know. They are shown as
// they are.
TypeRegistry.Set("Word", (_, value) => typeof value === "string");
TypeRegistry.Set("Documented", () => true);

/** A `Date`, which JSON serializes as ISO 8601 in UTC with milliseconds. */
export const instant = (annotations: Annotations = {}) =>
  Type.Unsafe<Date>({
    [Kind]: "Instant",
    type: "string",
    format: "date-time",
    examples: ["2026-12-01T23:25:00.000Z"],
    ...annotated(annotations),
  });

/** A string enumeration, of the words that this version knows. A response may have others. */
export const word = <const Words extends readonly string[]>(
  words: Words,
  annotations: Annotations = {},
) =>
  Type.Unsafe<Words[number]>({
    [Kind]: "Word",
    type: "string",
    enum: words,
    ...annotated(annotations),
  });

const graphqlScalar = Symbol("GraphQL scalar");

/** The GraphQL scalar of a value that is a plain text or number in JSON. */
export const graphqlScalarOf = (schema: object): string | undefined =>
  graphqlScalar in schema ? String(schema[graphqlScalar]) : undefined;

/** An amount in major units of a currency. */
export const amount = (description: string, ...examples: readonly number[]) =>
  Type.Number({
    minimum: 0,
    description,
    ...(examples.length > 0 && { examples }),
    [graphqlScalar]: "Money",
  });

/** An amount that is negative where money is paid back. */
export const signedAmount = (description: string, ...examples: readonly number[]) => {
  const { minimum: _, ...schema } = amount(description, ...examples);
  return Type.Unsafe<number>(schema);
};

export const emailAddress = (description: string) =>
  Type.String({ description, examples: ["ada@example.com"], [graphqlScalar]: "EmailAddress" });

/** An id with the prefix of its type. */
export const prefixedId = <const Prefix extends string>(
  prefix: Prefix,
  annotations: Annotations = {},
) =>
  Type.Unsafe<`${Prefix}${string}`>(
    Type.String({
      pattern: `^${prefix}`,
      examples: [`${prefix}019377b07d4070008000000000000001`],
      [graphqlScalar]: "ID",
      ...annotated(annotations),
    }),
  );

export const text = (description: string, ...examples: readonly string[]) =>
  Type.String({ description, ...(examples.length > 0 && { examples }) });

/** A non-negative integer. */
export const count = (description: string, ...examples: readonly number[]) =>
  Type.Integer({ minimum: 0, description, ...(examples.length > 0 && { examples }) });

export const flag = (description: string) => Type.Boolean({ description });

export const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

export const currencySchema = Type.String({
  pattern: "^[A-Z]{3}$",
  description: "ISO 4217 code.",
  examples: ["USD"],
});

export const moneySchema = resource("Money", "An amount of money.", {
  amount: amount("In major units of the currency, with the currency's decimals (ISO 4217).", 499.5),
  currency: currencySchema,
});

/** An object with any names, whose values have the same type. */
export const mapOf = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Readonly<Record<string, Static<Schema>>>>(
    Type.Record(Type.String(), schema, { description }),
  );

export const nullable = <Schema extends TSchema>(schema: Schema, annotations: Annotations = {}) =>
  Type.Unsafe<Static<Schema> | null>(Type.Union([schema, Type.Null()], annotated(annotations)));

export const listOf = <Schema extends TSchema>(schema: Schema, annotations: Annotations = {}) =>
  Type.Unsafe<readonly Static<Schema>[]>(Type.Array(schema, annotated(annotations)));

/**
 * A schema for the OpenAPI document and typed clients only; Elysia does not validate against it. Used for
 * bodies, parameters and headers, which Skyhook validates itself to return the documented errors.
 */
export const documented = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>({ ...schema, [Kind]: "Documented" });
