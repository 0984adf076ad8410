import { blob, customType, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

import { columnsOf, type Kind, tableBuilder } from "../table.ts";

import { DamagedValue } from "./errors.ts";
import { Packable, unpack } from "./packed.ts";

// Replace Drizzle's own time and JSON columns, which do not expect a null from a placeholder: one throws, the
// other writes the text "null".

/** A point in time: whole milliseconds since the epoch. */
const instant = customType<{ data: Date; driverData: number | null }>({
  dataType: () => "integer",
  toDriver: (time: Date | null) => time?.getTime() ?? null,
  fromDriver: (ms) => new Date(ms ?? Number.NaN),
});
const json = customType<{ data: unknown; driverData: string | null }>({
  dataType: () => "text",
  toDriver: (value) => (value === null ? null : JSON.stringify(value)),
  fromDriver: (text) => parsed(text ?? "null"),
});
const packedBytes = customType<{ data: Uint8Array; driverData: Uint8Array | null }>({
  dataType: () => "blob",
  toDriver: (value: Uint8Array | null) =>
    value && new Packable(value.buffer, value.byteOffset, value.length),
  fromDriver: (stored) => unpack(stored ?? new Uint8Array()),
});
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedValue("A stored value is not valid JSON", { cause: error });
  }
}

const columnOf = {
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  bigint: (name: string) => integer(name),
  boolean: (name: string) => integer(name, { mode: "boolean" }),
  instant: (name: string) => instant(name),
  bytes: (name: string) => blob(name, { mode: "buffer" }),
  packed: (name: string) => packedBytes(name),
  json: (name: string) => json(name),
} as const satisfies Record<Kind, (name: string) => object>;

/** The SQLite table of a definition. */
export const tableOf = tableBuilder((definition) =>
  sqliteTable(
    definition.name,
    Object.fromEntries(
      columnsOf(definition).map(({ field, name, kind, isNullable }) => {
        const column = columnOf[kind](name);
        return [field, isNullable ? column : column.notNull()];
      }),
    ),
  ),
);
