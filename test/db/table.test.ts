import { expect, test } from "bun:test";

import { columnsOf, defineTable } from "../../src/db/table.ts";

interface Row {
  readonly id: `evt_${string}`;
  readonly createdAt: Date;
  readonly body: Uint8Array | null;
}

test("a table's columns are named and typed by its row", () => {
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

// Held by the type check: each of these lines must not compile.
test("a missing, wrong or wrongly nullable column does not compile", () => {
  // @ts-expect-error: `body` is missing
  defineTable<Row>("rows", { id: "text", createdAt: "instant" });
  // @ts-expect-error: a date is no text
  defineTable<Row>("rows", { id: "text", createdAt: "text", body: "bytes or null" });
  // @ts-expect-error: `body` may be null
  defineTable<Row>("rows", { id: "text", createdAt: "instant", body: "bytes" });
  // @ts-expect-error: `id` is never null
  defineTable<Row>("rows", { id: "text or null", createdAt: "instant", body: "bytes or null" });
});
