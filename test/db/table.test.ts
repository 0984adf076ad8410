import { expect, test } from "bun:test";

import { tableOf } from "../../src/db/sqlite/tables.ts";
import { shownColumns } from "../../src/db/statement.ts";
import { columnsOf, defineTable, type Stored } from "../../src/db/table.ts";
import {
  amount,
  count,
  flag,
  instant,
  listOf,
  nullable,
  prefixedId,
  text,
} from "../../src/web/schema.ts";

const rows = defineTable("rows", {
  id: prefixedId("evt_"),
  createdAt: "instant",
  body: "bytes or null: text",
});
type Row = Stored<typeof rows>;

test("the columns of a table have names and kinds", () => {
  expect(columnsOf(rows)).toEqual([
    { field: "id", name: "id", kind: "text", isNullable: false, personal: null },
    { field: "createdAt", name: "created_at", kind: "instant", isNullable: false, personal: null },
    { field: "body", name: "body", kind: "bytes", isNullable: true, personal: "text" },
  ]);
});

test("a column stores the field that a schema describes", () => {
  const table = defineTable("rows", {
    id: prefixedId("evt_"),
    createdAt: nullable(instant()),
    size: count("How big."),
    tags: listOf(text("A tag.")),
    done: flag("Whether it is done."),
    seq: "bigint or null",
  });
  const row: Stored<typeof table> = {
    id: "evt_1",
    createdAt: null,
    size: 1,
    tags: ["new"],
    done: true,
    seq: null,
  };
  expect(Object.keys(row)).toEqual(Object.keys(table.columns));
  expect(columnsOf(table).map(({ kind, isNullable }) => [kind, isNullable])).toEqual([
    ["text", false],
    ["instant", true],
    ["integer", false],
    ["json", false],
    ["boolean", false],
    ["bigint", true],
  ]);
  // @ts-expect-error: the prefix is another
  const other: (typeof row)["id"] = "dst_1";
  expect(other).not.toBe(row.id);
});

test("no column stores a number that is not whole", () => {
  const table = defineTable("rows", { price: amount("The price.") });
  expect(() => columnsOf(table)).toThrow("No column stores");
});

// Checked by the type checker: none of these lines may compile.
test("a missing column, a wrong type or a wrong nullability does not compile", () => {
  const row: Row = { id: "evt_1", createdAt: new Date(0), body: null };
  // @ts-expect-error: `body` is missing
  const incomplete: Row = { id: "evt_1", createdAt: new Date(0) };
  // @ts-expect-error: a date is not text
  const text: Row = { ...row, createdAt: "1970" };
  // @ts-expect-error: `body` may be null
  const body: Uint8Array = row.body;
  // @ts-expect-error: `id` is never null
  const nameless: Row = { ...row, id: null };
  // @ts-expect-error: there is no such column
  const wider: Row = { ...row, seq: 1 };
  // @ts-expect-error: there is no such kind
  defineTable("rows", { id: "uuid" });
  expect([incomplete, text, nameless, wider, body]).toHaveLength(5);
});

test("a column that is only stored is not among the shown columns", () => {
  const shown = { id: "text", name: "text" } as const;
  const table = tableOf(defineTable("shown", { ...shown, secret: "bytes" }));
  expect(Object.keys(shownColumns(table, { ...shown, constructor: 1, extra: 1 }))).toEqual([
    "id",
    "name",
  ]);
});
