// It takes many seconds: the whole suite runs in memory and on disk, where each test opens a new file.
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { getTableColumns, getTableName } from "drizzle-orm";

import { version } from "../../src/base/version.ts";
import { departuresBetween, flightsByIds } from "../../src/booking/flights/flights.sql.ts";
import { expiredHolds, mayHold } from "../../src/booking/seats/seat-holds.sql.ts";
import { noObserver, openStorage } from "../../src/db/open.ts";
import { paginate } from "../../src/db/paginate.ts";
import { foldLog } from "../../src/db/sqlite/backup.ts";
import { tableOf } from "../../src/db/sqlite/tables.ts";
import { write } from "../../src/db/statement.ts";
import { eventById, newestPosition } from "../../src/event/event.sql.ts";
import { eventsAt, eventsByKeys, insertEvent } from "../../src/event/events.sql.ts";
import { eventPages, nextType } from "../../src/events/event-search.sql.ts";
import { deleteOldAudit } from "../../src/identity/audit/audit.sql.ts";
import { oldSessions } from "../../src/identity/sessions/sessions.sql.ts";
import { usersByIds } from "../../src/identity/users/users.sql.ts";
import { activeHours, countsBySteps } from "../../src/inbound/model/webhook-counts.sql.ts";
import { notificationsOfEvents } from "../../src/outbound/model/notifications.sql.ts";
import { schema, tables } from "../../src/schema/schema.ts";
import { failure } from "../support/failure.ts";
import { planOnSqlite } from "../support/plans.ts";
import { eventRow } from "../support/rows.ts";

import { storageSuite } from "./storage-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "skyhook-storage-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newFile = () => join(folder, `${++files}.db`);

storageSuite("sqlite in memory", () => openStorage(schema, "sqlite::memory:"));
storageSuite("sqlite on disk", () => openStorage(schema, `sqlite:${newFile()}`));

describe("sqlite: the file", () => {
  test("is accessible only to its owner, in WAL mode", async () => {
    const file = newFile();
    const storage = await openStorage(schema, `sqlite:${file}`);
    await storage.atomically(write(insertEvent, eventRow(1)));
    expect(statSync(file).mode & 0o077).toBe(0);
    using other = new Database(file, { readonly: true });
    expect(other.query("pragma journal_mode").get()).toEqual({ journal_mode: "wal" });
    await storage.close();
  });

  test("keeps committed rows when it is opened again", async () => {
    const file = newFile();
    const first = await openStorage(schema, `sqlite:${file}`);
    await first.atomically(write(insertEvent, eventRow(1)));
    await first.close();
    const second = await openStorage(schema, `sqlite:${file}`);
    expect((await second.atomically(write(insertEvent, eventRow(1))))[0].changes).toBe(0);
    await second.close();
  });

  test("of an older program is migrated, and the observer receives the migrations; for a new one it does not", async () => {
    const file = newFile();
    const migrated: (readonly string[])[] = [];
    const observer = {
      ...noObserver,
      migrated: (names: readonly string[]) => void migrated.push(names),
    };
    await (await openStorage(schema, `sqlite:${file}`)).close();
    const later = { name: "later", sql: "create table later (id text) strict" };
    const sqlite = [...schema.migrations.sqlite, later];
    const newer = { ...schema, migrations: { ...schema.migrations, sqlite } };
    for (const database of [file, file, newFile()]) {
      await (await openStorage(newer, `sqlite:${database}`, undefined, observer)).close();
    }
    expect(migrated).toEqual([["later"]]);
  });

  test("of a newer program is rejected with a message of one line", async () => {
    const file = newFile();
    await (await openStorage(schema, `sqlite:${file}`)).close();
    using other = new Database(file);
    other.run("insert into migrations (name) values ('9.9.0 two'), ('9.10.0')");
    expect(await failure(openStorage(schema, `sqlite:${file}`))).toMatchObject({
      message: expect.stringContaining(
        `The database is newer than this program (${version}): skyhook 9.10.0 migrated it. Start that version or a later one, or restore the backup`,
      ),
    });
  });

  test("made before the first release is rejected, and no byte of it changes", async () => {
    const file = newFile();
    const older = new Database(file, { create: true });
    older.run("pragma journal_mode = wal");
    older.run("create table migrations (name text not null primary key) strict");
    older.run("insert into migrations (name) values ('0001_initial')");
    older.close();
    const before = await Bun.file(file).bytes();
    expect(await failure(openStorage(schema, `sqlite:${file}`))).toMatchObject({
      message: expect.stringContaining("made before version 0.1.0, and only the program that made"),
    });
    expect(await Bun.file(file).bytes()).toEqual(before);
  });

  test("that is not a database is rejected", async () => {
    const file = newFile();
    await Bun.write(file, "This is not a database. ".repeat(100));
    expect(await failure(openStorage(schema, `sqlite:${file}`))).toMatchObject({
      code: "SQLITE_NOTADB",
    });
  });
});

test("sqlite: a transaction waits for a brief lock, fails with `unavailable` for a long one, and succeeds after it", async () => {
  const file = newFile();
  const storage = await openStorage(schema, `sqlite:${file}`);
  using other = new Database(file);
  other.run("begin immediate");
  const patient = storage.atomically(write(insertEvent, eventRow(1)));
  setTimeout(() => other.run("rollback"), 100);
  expect((await patient)[0].changes).toBe(1);

  other.run("begin immediate");
  const refused = storage.atomically(write(insertEvent, eventRow(2)));
  expect(await failure(refused)).toMatchObject({ code: "unavailable" });
  other.run("rollback");
  expect((await storage.atomically(write(insertEvent, eventRow(3))))[0].changes).toBe(1);
  await storage.close();
});

test("sqlite: items of one millisecond are in the order of their ids, with or without an index", async () => {
  const file = newFile();
  const storage = await openStorage(schema, `sqlite:${file}`);
  const createdAt = new Date(0);
  const rows = [3, 1, 5, 2, 4].map((number) => eventRow(number, { createdAt }));
  for (const row of rows) await storage.atomically(write(insertEvent, row));
  const request = { limit: 10, withTotal: false, direction: "forward", cursor: null } as const;
  const ids = async () =>
    (await paginate(eventPages(storage, { provider: "task_tracker" }), request)).data.map(
      ({ id }): string => id,
    );
  const expected = rows
    .map(({ id }): string => id)
    .toSorted()
    .toReversed();
  expect(await ids()).toEqual(expected);
  using other = new Database(file);
  other.run("drop index events_of_provider");
  expect(await ids()).toEqual(expected);
  await storage.close();
});

test("sqlite: positions of events grow although the clock is set back, and are not reused after a deletion", async () => {
  const file = newFile();
  const storage = await openStorage(schema, `sqlite:${file}`);
  const positionOf = async (number: number, timeMs: number) => {
    await storage.atomically(write(insertEvent, eventRow(number, { createdAt: new Date(timeMs) })));
    const [row] = await storage.all(newestPosition, {});
    return row?.position;
  };
  expect(await positionOf(1, 5_000)).toBe(5_000 * 1_024);
  expect(await positionOf(2, 5_000)).toBe(5_000 * 1_024 + 1);
  expect(await positionOf(3, 1_000)).toBe(5_000 * 1_024 + 2);
  using other = new Database(file);
  other.run("delete from events");
  expect(await positionOf(4, 6_000)).toBe(6_000 * 1_024);
  await storage.close();
});

test("sqlite: a closed database is no longer in use, after any statement", async () => {
  const file = newFile();
  const storage = await openStorage(schema, `sqlite:${file}`);
  const row = eventRow(1);
  await storage.atomically(write(insertEvent, row));
  await storage.all(eventById, row);
  expect(() => foldLog(file)).toThrow("locked");
  await storage.close();
  foldLog(file);
});

test("sqlite: a database that could not be opened is not in use", async () => {
  const file = newFile();
  await (await openStorage(schema, `sqlite:${file}`)).close();
  const other = new Database(file);
  for (const lock of ["begin immediate", "begin exclusive"]) {
    other.run(lock);
    const refused = await failure(openStorage(schema, `sqlite:${file}`));
    expect(refused).toMatchObject({ code: expect.stringContaining("SQLITE_BUSY") });
    other.run("rollback");
  }
  other.close();
  foldLog(file);
});

/** Whether a column is its table's integer primary key. */
const isRowid = (table: string, column: string) =>
  column === (table === "destinations" ? "number" : "position") &&
  ["destinations", "events", "notifications"].includes(table);

describe("sqlite: schema", () => {
  const database = new Database(":memory:");
  afterAll(() => database.close());
  for (const { sql } of schema.migrations.sqlite) database.run(sql);

  test.each(Object.entries(tables))("%s has the columns of its definition", (_, definition) => {
    const table = tableOf(definition);
    const columns = database
      .query<{ name: string; type: string; notnull: number }, [string]>(
        "select name, lower(type) as type, [notnull] from pragma_table_info(?) order by name",
      )
      .all(getTableName(table));
    const declared = Object.values(getTableColumns(table)).map((column) => ({
      name: column.name,
      type: column.getSQLType().toLowerCase(),
      // SQLite does not report an integer primary key as `not null`, but it is never null.
      notnull: column.notNull && !isRowid(definition.name, column.name) ? 1 : 0,
    }));
    declared.sort((one, other) => (one.name < other.name ? -1 : 1));
    // SQLite treats both names alike, except for a primary key.
    const named = columns.map((column) => ({
      ...column,
      type: column.type.replace(/^int$/, "integer"),
    }));
    expect(named).toEqual(declared);
  });

  test.each(Object.values(tables).map(({ name, key }) => [name, key] as const))(
    "%s has rows that its key identifies",
    (name, key) => {
      const unique = database
        .query<{ columns: string }, [string]>(
          "select group_concat(i.name) as columns from pragma_index_list(?1) l, pragma_index_info(l.name) i where l.[unique] and not l.partial group by l.name union select group_concat(name) from (select name from pragma_table_info(?1) where pk order by pk)",
        )
        .all(name)
        .map(({ columns }) => columns);
      const columns = key.map((field) =>
        field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
      if (columns.length > 0) expect(unique).toContain(columns.join(","));
      else expect(name).toBe("failed_attempts");
    },
  );

  const page = (...where: string[]) =>
    `select position from events where ${[...where, "position < 1"].join(" and ")} order by position desc limit 20`;
  test.each([
    ["events", page(), "INTEGER PRIMARY KEY (rowid<?)"],
    ["a provider's", page("provider = 'a'"), "events_of_provider (provider=? AND position<?)"],
    ["a type's", page("type = 'a'"), "events_of_type (type=? AND position<?)"],
    // Only an index with both is covering.
    ["both", page("provider = 'a'", "type = 'b'"), "USING COVERING INDEX events_of_"],
    [
      "uncommon events",
      page("status = 'ignored'", "status <> 'accepted'"),
      "events_unaccepted (status=? AND position<?)",
    ],
    [
      "flights",
      "select id from flights where (created_at, id) < (1, 2) order by created_at desc, id desc limit 20",
      "flights_newest ((created_at,id)<(?,?))",
    ],
    [
      "a contact's bookings",
      "select id from bookings where lower(bookings.contact_email) = lower('A') and (created_at, id) < (1, 'a') order by created_at desc, id desc limit 20",
      "bookings_of_contact (<expr>=? AND (created_at,id)<(?,?))",
    ],
  ])("a page of %s uses one index, in order", (_, query, index) => {
    const plan = database.query<{ detail: string }, []>(`explain query plan ${query}`).all();
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining(index)]);
  });

  test.each([
    ["flights by ids", flightsByIds, "flights_id (id=?)"],
    ["what departs on a day", departuresBetween, "(departure_time>? AND departure_time<?)"],
    ["a chart", countsBySteps, "(span_minutes=? AND minute>? AND minute<?)"],
    ["a provider's hours", activeHours, "(span_minutes=? AND provider=?)"],
    ["a booking's events", eventsByKeys, "events_key (idempotency_key=?)"],
    ["holds that have expired", expiredHolds, "seat_holds_expiring (expires_at<?)"],
    ["a user's holds on a flight", mayHold, "seat_holds_of_user (flight_id=? AND user_id=?)"],
    ["the next type", nextType, "events_of_type (type>? AND type<?)"],
    ["an actor's oldest sessions", oldSessions, "sessions_of_actor (actor=?)"],
    ["expired audit entries", deleteOldAudit, "audit_newest (created_at<?)"],
    ["users by ids", usersByIds, "(id=?)"],
    ["events by positions", eventsAt, "(rowid=?)"],
    ["notifications of events", notificationsOfEvents, "notifications_of_event (event=?)"],
  ])("%s uses an index", (_, statement, index) => {
    const plan = planOnSqlite(statement);
    expect(plan.join("\n")).toContain(index);
    expect(plan.filter((detail) => /^SCAN (?!json_each)/.test(detail))).toEqual([]);
  });
});
