import { bigint, boolean, customType, integer, pgTable, text } from "drizzle-orm/pg-core";

import { columnsOf, type Kind, tableBuilder } from "../table.ts";

/** A point in time: whole milliseconds since the epoch. */
const instant = customType<{ data: Date; driverData: number | string | null }>({
  dataType: () => "bigint",
  toDriver: (time: Date | null) => time?.getTime() ?? null,
  // The driver returns a bigint as text, since a number may not hold it.
  fromDriver: (ms) => new Date(Number(ms ?? Number.NaN)),
});
/** The driver encodes and decodes JSON. */
const json = customType<{ data: unknown; driverData: unknown }>({ dataType: () => "json" });
const bytes = customType<{ data: Uint8Array; driverData: Uint8Array | null }>({
  dataType: () => "bytea",
});

const columnOf = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  bigint: (name: string) => bigint(name, { mode: "number" }),
  boolean: (name: string) => boolean(name),
  instant: (name: string) => instant(name),
  bytes: (name: string) => bytes(name),
  // PostgreSQL compresses long values itself.
  packed: (name: string) => bytes(name),
  json: (name: string) => json(name),
} as const satisfies Record<Kind, (name: string) => object>;

/** The PostgreSQL table of a definition. */
export const tableOf = tableBuilder((definition) =>
  pgTable(
    definition.name,
    Object.fromEntries(
      columnsOf(definition).map(({ field, name, kind, isNullable }) => {
        const column = columnOf[kind](name);
        return [field, isNullable ? column : column.notNull()];
      }),
    ),
  ),
);
