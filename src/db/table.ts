import type { Column, Table } from "drizzle-orm";

/** The column type that stores a value of type `V`. */
type KindFor<V> = [V] extends [string]
  ? "text"
  : [V] extends [number]
    ? "integer" | "bigint"
    : [V] extends [boolean]
      ? "boolean"
      : [V] extends [Date]
        ? "instant"
        : [V] extends [Uint8Array]
          ? "bytes"
          : "json";

/**
 * What a column stores. `integer` fits 32 bits, `bigint` 53 (JavaScript's safe integers); `instant` is
 * a point in time in whole milliseconds. Each dialect maps these to its own types.
 */
export type Kind = "text" | "integer" | "bigint" | "boolean" | "instant" | "bytes" | "json";

type Columns<Row> = {
  readonly [Field in keyof Row]-?: null extends Row[Field]
    ? `${KindFor<NonNullable<Row[Field]>>} or null`
    : KindFor<Row[Field]>;
};

/**
 * A table, defined once for both databases. Migrations create it, with keys, indexes and constraints;
 * the definition says how rows are read and written. A test compares the two.
 */
export interface Definition {
  readonly name: string;
  /** Maps each field of the row to its kind, followed by ` or null` for a nullable column. */
  readonly columns: Readonly<Record<string, string>>;
}

export interface TableDefinition<Row> extends Definition {
  /** Never set: carries the type of the rows. */
  readonly $row?: Row;
}

/** Defines the table that stores `Row`. A missing column, wrong type or wrong nullability does not compile. */
export function defineTable<Row>(
  name: string,
  columns: Columns<Row> & Definition["columns"],
): TableDefinition<Row> {
  return { name, columns };
}

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
}

const nullable = " or null";

export function columnsOf({ columns }: Definition): readonly ColumnDefinition[] {
  return Object.entries(columns).map(([field, type]) => ({
    field,
    name: field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    // Guarantee: `Columns` allows only a kind, with or without the suffix.
    kind: type.replace(nullable, "") as Kind,
    isNullable: type.endsWith(nullable),
  }));
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
