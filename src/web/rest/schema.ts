import {
  Kind,
  type OptionalKind,
  type Static,
  type TSchema,
  type TUnsafe,
  Type,
  TypeRegistry,
} from "@sinclair/typebox";

/** What a reader of the API documents is told of a value. */
export interface Annotations {
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** A schema of exactly `Value`. */
type SchemaOf<Value> = TSchema & { readonly static: Value };

/** A schema for every field of `T`, optional where the field is. */
type FieldsOf<T> = {
  readonly [Name in keyof T]-?: SchemaOf<Required<T>[Name]> &
    (Partial<Pick<T, Name>> extends Pick<T, Name> ? { [OptionalKind]: "Optional" } : unknown);
};

/** Refuses a field that `T` has not, and one that may hold less than the field of `T`. */
type NoOtherThan<T, Fields> = {
  readonly [Name in keyof Fields]: Name extends keyof T
    ? Fields[Name] extends { readonly static: infer Value }
      ? Required<T>[Name] extends Value
        ? unknown
        : never
      : never
    : never;
};

/**
 * The schema of a type of ours, named in the API documents. The two cannot drift: a field that one of
 * them has and the other has not, or has otherwise, does not compile.
 */
export const schemaOf =
  <T extends object>() =>
  <Fields extends FieldsOf<T>>(
    name: string,
    description: string,
    fields: Fields & NoOtherThan<T, Fields>,
  ): TUnsafe<T> =>
    Type.Unsafe<T>(Type.Object(fields, { $id: name, description }));

TypeRegistry.Set("Instant", (_, value) => value instanceof Date);
TypeRegistry.Set<{ readonly enum: readonly unknown[] }>("Word", ({ enum: words }, value) =>
  words.includes(value),
);
TypeRegistry.Set("Documented", () => true);

/** A moment: a `Date` here, which JSON prints as ISO 8601 in UTC with milliseconds. */
export const instant = (annotations: Annotations = {}) =>
  Type.Unsafe<Date>({
    [Kind]: "Instant",
    type: "string",
    format: "date-time",
    examples: ["2026-12-01T23:25:00.000Z"],
    ...annotations,
  });

/** One of a few words. */
export const word = <const Words extends readonly string[]>(
  words: Words,
  annotations: Annotations = {},
) => Type.Unsafe<Words[number]>({ [Kind]: "Word", type: "string", enum: words, ...annotations });

/** An id that starts as all of its kind do. */
export const prefixedId = <Id extends string>(prefix: string, annotations: Annotations = {}) =>
  Type.Unsafe<Id>(
    Type.String({
      pattern: `^${prefix}`,
      examples: [`${prefix}019377b07d4070008000000000000001`],
      ...annotations,
    }),
  );

export const text = (description: string, ...examples: readonly string[]) =>
  Type.String({ description, ...(examples.length > 0 && { examples }) });

/** A whole number of 0 or more. */
export const count = (description: string, ...examples: readonly number[]) =>
  Type.Integer({ minimum: 0, description, ...(examples.length > 0 && { examples }) });

export const nullable = <Schema extends TSchema>(schema: Schema, annotations: Annotations = {}) =>
  Type.Unsafe<Static<Schema> | null>(Type.Union([schema, Type.Null()], { ...annotations }));

export const listOf = <Schema extends TSchema>(schema: Schema, annotations: Annotations = {}) =>
  Type.Unsafe<readonly Static<Schema>[]>(Type.Array(schema, { ...annotations }));

/**
 * A schema for the API documents and typed clients alone: Elysia lets every value pass. Bodies,
 * parameters and headers have it, since our own strict reading of them makes the errors of the
 * contract.
 */
export const documented = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema>>({ ...schema, [Kind]: "Documented" });
