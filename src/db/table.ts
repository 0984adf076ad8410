import type { Column, Table } from "drizzle-orm";

/**
 * What a column stores. `integer` fits 32 bits, `bigint` 53 (JavaScript's safe integers); `instant` is
 * a point in time in whole milliseconds; `packed` are bytes that are long and seldom read, which a database may compress.
 * Each dialect maps these to its own types.
 */
interface Values {
  readonly text: string;
  readonly integer: number;
  readonly bigint: number;
  readonly boolean: boolean;
  readonly instant: Date;
  readonly bytes: Uint8Array;
  readonly packed: Uint8Array;
  readonly json: unknown;
}
export type Kind = keyof Values;

/** The schema of a field that is shown, as `web/schema.ts` makes it. The column stores its values. */
interface Field {
  readonly static: unknown;
}

/**
 * What a column says about a person: nothing; who it is; text that may name one; an id that stands for one; or a
 * secret, which no export contains.
 */
export const personalClasses = ["none", "identifies", "text", "pseudonym", "secret"] as const;
type PersonalClass = (typeof personalClasses)[number];

const classOf = Symbol("class of personal data");

/** A field whose columns say this about a person. */
export const personal = <Shown extends Field>(is: PersonalClass, field: Shown): Shown => ({
  ...field,
  [classOf]: is,
});

type Nullable = Kind | `${Kind} or null`;

/**
 * The columns of a table by the field of the row that they store: a schema, or a kind, perhaps ` or null`, and what it says
 * about a person. A test requires that of all that can hold a text.
 */
type Columns = Readonly<Record<string, Field | Nullable | `${Nullable}: ${PersonalClass}`>>;

type ValueOf<C> = C extends Field
  ? C["static"]
  : C extends `${infer Value}: ${PersonalClass}`
    ? ValueOf<Value>
    : C extends `${infer K extends Kind} or null`
      ? Values[K] | null
      : C extends Kind
        ? Values[C]
        : never;

/**
 * A table, defined once for both databases. Migrations create it, with keys, indexes and constraints;
 * the definition says how rows are read and written. A test compares the two.
 */
export interface Definition {
  readonly name: string;
  readonly columns: Columns;
  /** The fields that identify the rows and order them in copies and exports. Empty if nothing identifies them. */
  readonly key: readonly string[];
}

export interface TableDefinition<Row> extends Definition {
  /** Never set: carries the type of the rows. */
  readonly $row?: Row;
}

/** What a row of these columns holds. */
type RowIn<C extends Columns> = { readonly [Name in keyof C]: ValueOf<C[Name]> };

/** Defines a table. `Stored` is the type of its rows. */
export function defineTable<const C extends Columns>(
  name: string,
  columns: C,
  key: readonly (keyof C & string)[] = "id" in columns ? ["id"] : [],
): TableDefinition<RowIn<C>> {
  return { name, columns, key };
}

/** The rows of a table. */
export type Stored<Defined extends Definition> =
  Defined extends TableDefinition<infer Row> ? Row : never;

/** Tables by the names that statements use for them. */
export type Definitions = Readonly<Record<string, Definition>>;

/** A Drizzle column that stores a `Value` and is nullable if `Value` is. */
type ColumnOf<Value> = Column & {
  readonly _: {
    readonly data: NonNullable<Value>;
    readonly notNull: null extends Value ? false : true;
  };
};

/** The Drizzle table of a definition, in either dialect. */
type TableOf<Row> = Table & { readonly [Field in keyof Row]-?: ColumnOf<Row[Field]> };

/** The Drizzle tables of `Defined`, from which a statement is built. */
export type TablesOf<Defined extends Definitions> = {
  readonly [Name in keyof Defined]: Defined[Name] extends TableDefinition<infer Row>
    ? TableOf<Row>
    : never;
};

/** The row type of a table, derived from its columns. */
export type RowOf<T extends Table> = {
  -readonly [Field in keyof T as T[Field] extends Column ? Field : never]: T[Field] extends {
    readonly _: { readonly data: infer Data; readonly notNull: infer NotNull };
  }
    ? NotNull extends true
      ? Data
      : Data | null
    : never;
};

/** What a dialect needs to build a column. */
interface ColumnDefinition {
  /** The property of the row, for example `createdAt`. */
  readonly field: string;
  /** The name in the database, for example `created_at`. */
  readonly name: string;
  readonly kind: Kind;
  readonly isNullable: boolean;
  /** Null if it is not said. */
  readonly personal: PersonalClass | null;
}

export function columnsOf({ columns }: Definition): readonly ColumnDefinition[] {
  return Object.entries(columns).map(([field, column]) => ({
    field,
    name: field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ...(typeof column === "string" ? named(column) : described(column)),
  }));
}

type Stores = Omit<ColumnDefinition, "field" | "name">;

function named(column: string): Stores {
  const [stored = "", said] = column.split(": ");
  const [kind, isNull] = stored.split(" ");
  // Guarantee: the type of the columns of a table.
  return {
    kind: kind as Kind,
    isNullable: isNull !== undefined,
    personal: (said ?? null) as PersonalClass | null,
  };
}

/** JSON Schema types of columns. A `number` has no column: store whole minor units. */
const kinds: Readonly<Record<string, Kind>> = {
  string: "text",
  integer: "integer",
  boolean: "boolean",
  array: "json",
  object: "json",
};

/** What is read of a JSON Schema. */
interface JsonSchema {
  readonly [classOf]?: PersonalClass;
  readonly type?: string;
  readonly format?: string;
  readonly anyOf?: readonly [JsonSchema, JsonSchema];
}

function described(schema: Field & JsonSchema): Stores {
  const [value, other] = schema.anyOf ?? [schema];
  const kind = value.format === "date-time" ? "instant" : kinds[value.type ?? ""];
  if (kind === undefined) throw new Error(`No column stores ${JSON.stringify(schema)}`);
  const said = schema[classOf] ?? value[classOf] ?? null;
  return { kind, isNullable: other?.type === "null", personal: said };
}

/** Builds the Drizzle table of each definition once, on first use. */
export function tableBuilder(build: (definition: Definition) => Table) {
  const built = new Map<Definition, Table>();
  return (definition: Definition): Table => {
    const table = built.get(definition) ?? build(definition);
    built.set(definition, table);
    return table;
  };
}
