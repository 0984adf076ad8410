import { expect, test } from "bun:test";

import {
  columnClasses,
  columnsOfClass,
  type PersonalTable,
  personalTables,
} from "../../src/persons/personal-columns.ts";
import { tables } from "../../src/schema/schema.ts";

const all: readonly (readonly [string, PersonalTable])[] = Object.entries(personalTables);

test("every table has its columns classified", () => {
  expect(Object.keys(personalTables).toSorted()).toEqual(Object.keys(tables).toSorted());
});

test.each(all)("%s gives each column one class", (_, table) => {
  const classified = columnClasses.flatMap((name) => columnsOfClass(table, name));
  expect(classified.toSorted()).toEqual(Object.keys(table.definition.columns).toSorted());
});

/** Why a column that identifies a person stays after an erasure. */
const kept: Readonly<Record<string, string>> = {
  "disclosures.actor": "It is who read the data, not whose it is.",
};

test.each(all)("%s erases all that identifies a person", (name, { links, ...table }) => {
  const erased = links.flatMap(({ erase }) =>
    erase === "delete"
      ? columnsOfClass({ links, ...table }, "identifies")
      : Object.keys(erase === "keep" ? {} : erase),
  );
  const left = columnsOfClass({ links, ...table }, "identifies").filter(
    (column) => !erased.includes(column) && kept[`${name}.${column}`] === undefined,
  );
  expect(left).toEqual([]);
});

test.each(all)("%s can be read in the order of its key where it is searched", (_, table) => {
  const isRead = table.links.length > 0 || columnsOfClass(table, "text").length > 0;
  expect(table.key.length > 0).toBe(isRead);
});
