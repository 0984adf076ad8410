import { expect, test } from "bun:test";

import { columnsOf, defineTable } from "../../src/db/table.ts";

interface Row {
  readonly id: `evt_${string}`;
  readonly createdAt: Date;
  readonly body: Uint8Array | null;
}

test("the columns of a table have the names and types of its row", () => {
  const table = defineTable<Row>("rows", {
    id: "text",
    createdAt: "instant",
    body: "bytes or null",
  });
  expect(columnsOf(table)).toEqual([
    { field: "id", name: "id", kind: "text", isNullable: false },
    { field: "createdAt", name: "created_at", kind: "instant", isNullable: false },
    { field: "body", name: "body", kind: "bytes", isNullable: true },
  ]);
});

// Checked by the type checker: none of these lines may compile.
test("a missing column, a wrong type or a wrong nullability does not compile", () => {
  // @ts-expect-error: `body` is missing
  defineTable<Row>("rows", { id: "text", createdAt: "instant" });
  // @ts-expect-error: a date is not text
  defineTable<Row>("rows", { id: "text", createdAt: "text", body: "bytes or null" });
  // @ts-expect-error: `body` may be null
  defineTable<Row>("rows", { id: "text", createdAt: "instant", body: "bytes" });
  // @ts-expect-error: `id` is never null
  defineTable<Row>("rows", { id: "text or null", createdAt: "instant", body: "bytes or null" });
});
