import { type TSchema, Type } from "@sinclair/typebox";

/** What a form shows of a field. */
export interface FormField {
  readonly type: "text" | "integer" | "flag" | "choice";
  readonly label: string;
  /** Below the field. */
  readonly hint?: string;
  readonly placeholder?: string;
  /** Of a text of several lines. */
  readonly rows?: number;
  /** Not shown while it is typed. */
  readonly isSecret?: boolean;
  /** Of a choice. */
  readonly words?: readonly string[];
  /** What a form shows instead of the words. */
  readonly labels?: Readonly<Record<string, { readonly label: string }>>;
  readonly isOptional?: boolean;
  readonly isNullable?: boolean;
}

/**
 * A field of a request's body. The check, the OpenAPI document, the options of a command and the console's
 * form are made from it. Plain data, because the console's page imports it too.
 */
export interface InputField extends FormField {
  readonly description: string;
  readonly example?: string;
  /** Keywords of JSON Schema, such as `maxLength`. */
  readonly rules?: Readonly<Record<string, string | number>>;
  /** The error for a value that breaks a rule. */
  readonly error?: string;
  /** How the command line takes it, such as `--rate <number>`. */
  readonly option?: string;
}

export type InputFields = Readonly<Record<string, InputField>>;

type ValueOf<Field extends InputField> =
  | (Field extends { readonly words: readonly (infer Word)[] }
      ? Word
      : { text: string; integer: number; flag: boolean; choice: string }[Field["type"]])
  | (Field extends { readonly isNullable: true } ? null : never);

type OptionalIn<Fields extends InputFields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof Fields];

/** The type of a body with these fields. */
type InputOf<Fields extends InputFields> = {
  [Name in Exclude<keyof Fields, OptionalIn<Fields>>]: ValueOf<Fields[Name]>;
} & { [Name in OptionalIn<Fields>]?: ValueOf<Fields[Name]> };

interface Options {
  readonly $id?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly additionalProperties?: false;
}

/** The schema of a body with these fields. */
export function inputSchema<const Fields extends InputFields>(fields: Fields, options: Options) {
  // Guarantee: each schema accepts what `ValueOf` says of its field.
  return Type.Unsafe<InputOf<Fields>>(Type.Object(schemasOf(fields), options));
}

/** The schema of a body with some of these fields, for a change. */
export function changesSchema<const Fields extends InputFields>(fields: Fields, options: Options) {
  // Guarantee: as above, and `Type.Partial` makes every field optional.
  return Type.Unsafe<Partial<InputOf<Fields>>>(
    Type.Partial(Type.Object(schemasOf(fields)), { ...options }),
  );
}

function schemasOf(fields: InputFields): Readonly<Record<string, TSchema>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]));
}

function schemaOf(field: InputField): TSchema {
  const { description, error, example, rules, isOptional, isNullable } = field;
  const annotations = {
    ...(error !== undefined && { errorMessage: error }),
    description,
    ...(example !== undefined && { examples: [example] }),
  };
  const schema =
    isNullable === true
      ? Type.Union([valueSchema(field, { ...rules }), Type.Null()], annotations)
      : valueSchema(field, { ...rules, ...annotations });
  return isOptional === true ? Type.Optional(schema) : schema;
}

function valueSchema({ type, words = [] }: InputField, options: object): TSchema {
  if (type === "text") return Type.String(options);
  if (type === "integer") return Type.Integer(options);
  if (type === "flag") return Type.Boolean(options);
  const literals = words.map((word) => Type.Literal(word));
  return Type.Union(literals, options);
}
