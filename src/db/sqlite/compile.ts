import type { Database } from "bun:sqlite";

import { drizzle } from "drizzle-orm/bun-sqlite";

import { binder } from "../binder.ts";
import { compiler } from "../compiler.ts";
import { Place } from "../place.ts";
import { type Field, type ReadRow, rowReader } from "../rows.ts";
import type { Sql } from "../statement.ts";

import { dialect } from "./dialect.ts";
import type { Bound } from "./group.ts";
import { tableOf } from "./tables.ts";

/** A complete query of Drizzle's SQLite driver. */
interface SqliteBuilder {
  prepare(): { readonly fields?: readonly Field[] };
  toSQL(): { readonly sql: string; readonly params: readonly unknown[] };
}

/** A statement as SQL text. Each connection prepares it itself. */
export interface Compiled {
  readonly sql: string;
  /** Returns the parameters. Throws when a value is missing or has a type that SQLite does not store. */
  readonly bind: (values: object) => Bound[];
  /** Null for a statement that returns no rows. */
  readonly read: ReadRow | null;
}

/** Drizzle only builds the text and describes the rows; it runs nothing. */
const noClient = { prepare: () => null };

/** Compiles each statement once, for all databases that this process opens. */
export const compile = compiler<Compiled>({
  // Guarantee: a builder calls no method of the client but `prepare`, whose result is not used here. Sql lists
  // only methods that Drizzle's SQLite builders have, with the same meaning; the storage suite runs every
  // statement of the program through it.
  builders: drizzle(noClient as unknown as Database) as unknown as Sql,
  tableOf,
  dialect,
  prepare(query) {
    // Guarantee: Drizzle's SQLite builders made the query.
    const builder = query as SqliteBuilder;
    const { sql, params } = builder.toSQL();
    const { fields } = builder.prepare();
    return {
      sql,
      bind: binder(params, bindable),
      read: fields === undefined ? null : rowReader(fields),
    };
  },
});

function bindable(value: unknown): Bound {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return value;
    default:
      if (value === null || value instanceof Uint8Array) return value;
      if (value instanceof Place) return value.position;
      throw new TypeError(`SQLite cannot store a value of type ${typeof value}`);
  }
}
