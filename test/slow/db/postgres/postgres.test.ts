import { describe, expect, test } from "bun:test";

import { getTableColumns, getTableName } from "drizzle-orm";

import { tableOf } from "../../../../src/db/postgres/tables.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventById } from "../../../../src/event/event.sql.ts";
import { eventsByKeys, insertEvent } from "../../../../src/event/events.sql.ts";
import { tables } from "../../../../src/schema/schema.ts";
import { storageSuite } from "../../../db/storage-suite.ts";
import { eventRow } from "../../../support/rows.ts";

import { sharedDatabase } from "./shared-database.ts";

const shared = sharedDatabase();

storageSuite("postgres", () => shared.openEmpty(), 5);

describe("postgres: schema", () => {
  test("has the columns of the definitions, and compares text byte by byte", async () => {
    const storage = await shared.openEmpty();
    await storage.close();
    const found = await shared.run(
      `select table_name, column_name, data_type, is_nullable, collation_name
       from information_schema.columns where table_schema = current_schema()
       and table_name not in (select relname from pg_class where relispartition or relkind = 'v')
       and table_name not in ('migrations', 'event_words', 'event_keys', 'last_sweep') order by table_name, column_name`,
    );
    const declared = Object.values(tables)
      .map(tableOf)
      .toSorted((one, other) => (getTableName(one) < getTableName(other) ? -1 : 1))
      .flatMap((table) =>
        Object.values(getTableColumns(table))
          .toSorted((one, other) => (one.name < other.name ? -1 : 1))
          .map((column) => ({
            table_name: getTableName(table),
            column_name: column.name,
            data_type: column.getSQLType(),
            is_nullable: column.notNull ? "NO" : "YES",
            collation_name: column.getSQLType() === "text" ? "C" : null,
          })),
      );
    expect(found).toEqual(declared);
  });

  test("a page after an item uses one index, in order", async () => {
    const storage = await shared.openEmpty();
    await storage.close();
    await shared.run("set enable_seqscan = off");
    await shared.run("select make_week(0)");
    const plan = await shared.run(
      "explain (costs off) select position from events where provider = 'a' and position < 1 order by position desc limit 20",
    );
    const lines = plan.map((row) => String(row["QUERY PLAN"]).trim());
    expect(lines[1]).toMatch(
      /Index Only Scan Backward using events_\w+_provider_position_type_idx on events/,
    );
    expect(lines[2]).toContain('("position" < 1)');
  });

  test("NUL, which PostgreSQL cannot store in text, is stored and found as U+FFFD", async () => {
    const storage = await shared.openEmpty();
    const row = eventRow(1, { title: "a\0b", idempotencyKey: "k\0", data: { deep: "\0" } });
    await storage.atomically(write(insertEvent, row));
    const [found] = await storage.all(eventById, { id: row.id });
    expect(found).toMatchObject({ title: "a\u{FFFD}b", data: { deep: "\0" } });
    const [again] = await storage.atomically(write(insertEvent, { ...eventRow(2), ...row }));
    expect(again.changes).toBe(0);
    expect(await storage.all(eventsByKeys, { keys: ["k\0", "\0"] })).toHaveLength(1);
    await storage.close();
  });
});
