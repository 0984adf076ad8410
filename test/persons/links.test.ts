import { expect, test } from "bun:test";

import { columnsOf, type Definition } from "../../src/db/table.ts";
import { type LinkedTable, linkedTables } from "../../src/persons/links.ts";
import { tables } from "../../src/schema/schema.ts";

/** Only listed words, ids with a prefix, codes and numbers: nothing that a person could have written. */
function isClosed(schema: unknown): boolean {
  const { enum: words, pattern, type, items, anyOf } = Object(schema);
  if (Array.isArray(anyOf)) return isClosed(anyOf[0]);
  return words !== undefined || pattern !== undefined || type === "integer" || isClosedList(items);
}
const isClosedList = (items: unknown) => items !== undefined && isClosed(items);

test.each(Object.entries<Definition>(tables))(
  "%s says of each column that can hold a text what it says about a person",
  (_, table) => {
    const unsaid = columnsOf(table).filter(
      ({ kind, field, personal }) =>
        ["text", "json", "bytes", "packed"].includes(kind) &&
        personal === null &&
        !isClosed(table.columns[field]),
    );
    expect(unsaid).toEqual([]);
  },
);

const linked: readonly (readonly [string, LinkedTable])[] = Object.entries(linkedTables);
const fieldsOf = (table: Definition, is: "identifies" | "secret") =>
  columnsOf(table)
    .filter(({ personal }) => personal === is)
    .map(({ field }) => field);

test("every table with columns that identify a person is exported and erased", () => {
  const identifying = Object.entries<Definition>(tables).filter(
    ([, table]) => fieldsOf(table, "identifies").length > 0,
  );
  const names = linked.map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(identifying.map(([name]) => name)));
});

/** Why a column that identifies a person stays after an erasure. */
const kept: Readonly<Record<string, string>> = {
  "disclosures.actor": "It is who read the data, not whose it is.",
};

test.each(linked)("%s erases all that identifies a person", (name, { links, definition }) => {
  const all = fieldsOf(definition, "identifies");
  const erased = links.flatMap(({ erase }) =>
    erase === "delete" ? all : Object.keys(erase === "keep" ? {} : erase),
  );
  const left = all.filter((column) => !erased.includes(column) && !(`${name}.${column}` in kept));
  expect(left).toEqual([]);
});
