import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { SQL } from "bun";

import { openStorage } from "../../../../src/db/open.ts";
import { inspectServer } from "../../../../src/db/postgres/inspect.ts";
import { write } from "../../../../src/db/statement.ts";
import type { Storage } from "../../../../src/db/storage.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import {
  insertNotification,
  newestNotification,
} from "../../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { failure, refusal } from "../../../support/failure.ts";
import { noOwnPostgres } from "../../../support/own-postgres.ts";
import { resources } from "../../../support/resources.ts";
import { eventRow, notificationRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

const taken = resources();
const limits = { poolSize: 2, connectTimeoutMs: 10_000, statementTimeoutMs: 10_000, retryMs: 0 };

/** Like deploy/postgres-roles.sql with other role names, but each privilege is granted by a separate statement. */
const ownerText = `create role keeper login;
  create role server login;
  create schema skyhook authorization keeper;
  alter role keeper set search_path = skyhook;
  alter role server set search_path = skyhook;
  grant usage on schema skyhook to server`;
const grantTables =
  "grant select, insert, update, delete on all tables in schema skyhook to server";
const grantOthers = `grant usage, select, update on all sequences in schema skyhook to server;
  grant execute on all functions in schema skyhook to server`;

describe.skipIf(skips(noOwnPostgres))("postgres: roles", () => {
  async function start() {
    const database = await taken.ownPostgres();
    const urlOf = (role: string) => {
      const url = new URL(database.url);
      url.username = role;
      return url.href;
    };
    const run = async (text: string) => {
      await using sql = new SQL(database.url, { max: 1 });
      await sql.unsafe(text).simple();
    };
    return { urlOf, run };
  }
  const opened = async (url: string) => openStorage(schema, url, limits);
  const insertBoth = (storage: Storage) =>
    storage.atomically(
      write(insertEvent, eventRow(1)),
      write(insertNotification, notificationRow(1)),
    );

  test("the schema's owner creates the tables; a role with the documented privileges serves", async () => {
    const { urlOf, run } = await start();
    await run(ownerText);
    expect(await refusal(opened(urlOf("server")))).toContain("usage and create on its schema");
    expect(await refusal(inspectServer(schema, urlOf("server"), limits))).toContain(
      "once as the schema's owner",
    );
    await (await opened(urlOf("keeper"))).close();

    expect(await refusal(opened(urlOf("server")))).toContain("permission denied for table");
    await run(grantTables);
    const [odd = ""] = (await inspectServer(schema, urlOf("server"), limits)).warnings;
    expect(odd).toMatch(/events_position, flights_id.* make_week/);
    expect(odd).toContain("grant it select, insert, update and delete on all tables");
    const storage = await opened(urlOf("server"));
    expect(await failure(insertBoth(storage))).toMatchObject({ code: "unavailable" });
    // The readiness check fails too.
    expect(await failure(storage.atomically())).toMatchObject({ code: "unavailable" });

    await run(`${grantOthers}; create table skyhook.of_another_program ()`);
    await insertBoth(storage);
    await storage.atomically();
    const { position } = notificationRow(1).position;
    expect(await storage.all(newestNotification, {})).toEqual([{ position }]);
    expect((await inspectServer(schema, urlOf("server"), limits)).warnings).toEqual([]);
    await storage.close();
  }, 60_000);

  test("deploy/postgres-roles.sql creates an owner that migrates and a role that serves", async () => {
    const { urlOf, run } = await start();
    const script = join(import.meta.dir, "../../../../deploy/postgres-roles.sql");
    await run(readFileSync(script, "utf8"));
    await (await opened(urlOf("sky"))).close();
    const storage = await opened(urlOf("sky_server"));
    await insertBoth(storage);
    expect((await inspectServer(schema, urlOf("sky_server"), limits)).warnings).toEqual([]);
    await storage.close();
  }, 60_000);

  test("a missing privilege fails the transactions that need it, and no other in their group [PG-8]", async () => {
    const { urlOf, run } = await start();
    await run(ownerText);
    await (await opened(urlOf("keeper"))).close();
    await run(
      `${grantTables}; ${grantOthers}; revoke insert on skyhook.notifications from server;
      revoke temporary on database postgres from public`,
    );
    const storage = await opened(urlOf("server"));
    const [refused] = await Promise.all([
      failure(insertBoth(storage)),
      storage.atomically(write(insertEvent, eventRow(2))),
    ]);
    expect(refused).toMatchObject({ code: "unavailable" });
    await run("revoke delete on skyhook.migrations from server");
    const [unready] = await Promise.all([
      failure(storage.atomically()),
      storage.atomically(write(insertEvent, eventRow(3))),
    ]);
    expect(unready).toMatchObject({ code: "unavailable" });
    await storage.close();
  }, 60_000);

  test("a server without free connections prevents the start; later it causes `unavailable` [PG-7]", async () => {
    const { urlOf, run } = await start();
    await run("create role few login connection limit 0; grant create on schema public to few");
    expect(await refusal(opened(urlOf("few")))).toContain("has no free connections");
    await run("alter role few connection limit 1");
    const storage = await opened(urlOf("few"));
    await storage.atomically(write(insertEvent, eventRow(1)));
    await run("alter role few connection limit 0");
    await run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'few'");
    expect(await failure(storage.atomically())).toMatchObject({ code: "unavailable" });
    await run("alter role few connection limit 1");
    await storage.atomically();
    await storage.close();
  }, 60_000);

  test("a read-only server prevents the start; one that turns read-only causes `unavailable` [PG-5]", async () => {
    const { urlOf, run } = await start();
    await run("create role reader login; grant create on schema public to reader");
    const storage = await opened(urlOf("reader"));
    await run("alter role reader set default_transaction_read_only = on");
    await run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'");
    const insert = () => storage.atomically(write(insertEvent, eventRow(1)));
    expect(await failure(insert())).toMatchObject({ code: "unavailable" });
    expect(await failure(storage.atomically())).toMatchObject({ code: "unavailable" });
    expect(await refusal(opened(urlOf("reader")))).toContain("is read-only");
    await run("alter role reader reset default_transaction_read_only");
    await run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'");
    // The first insert may get a terminated connection, and `retryMs` is 0 here.
    await until(() => insert().then(Boolean, () => false));
    await storage.close();
  }, 60_000);
});
