import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { noObserver, openStorage } from "../../../../src/db/open.ts";
import { inspectServer } from "../../../../src/db/postgres/inspect.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import {
  noManyConnections,
  postgresDatabase,
  type TestDatabase,
} from "../../../support/databases.ts";
import { refusal } from "../../../support/failure.ts";
import { skips } from "../../../support/skips.ts";

const limits = { poolSize: 5, connectTimeoutMs: 5_000, statementTimeoutMs: 10_000, retryMs: 0 };

/** Replaced functions and views stand in for databases that speak PostgreSQL's protocol but lack parts of it. */
describe.skipIf(skips(noManyConnections))("postgres: a server that only looks like it", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await postgresDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** The URL of a schema whose definitions go before those of PostgreSQL. */
  async function replacing(...definitions: string[]): Promise<string> {
    const name = (await database.run("select current_schema() as name"))[0]?.["name"];
    await database.run(`drop schema ${String(name)} cascade`);
    await database.run(`create schema ${String(name)}`);
    for (const definition of definitions) await database.run(definition);
    const url = new URL(database.url);
    url.searchParams.set("search_path", `${String(name)},pg_catalog`);
    return url.href;
  }

  test("does not start if an advisory lock is granted twice [PG-12]", async () => {
    const url = await replacing(
      "create function pg_try_advisory_xact_lock(int, int) returns boolean return true",
    );
    expect(await refusal(openStorage(schema, url, limits))).toEndWith(
      "is not PostgreSQL, or a part of it is replaced: it lacks advisory locks that exclude other sessions, which keep events in order and instances from migrating at the same time. Use PostgreSQL itself",
    );
    expect(await refusal(inspectServer(schema, url, limits))).toContain("it lacks advisory locks");
  });

  test("does not start if there is no advisory lock", async () => {
    const url = await replacing(
      `create function pg_advisory_xact_lock(int, int) returns void language plpgsql as $$
        begin raise exception 'unimplemented' using errcode = '0A000'; end $$`,
    );
    expect(await refusal(openStorage(schema, url, limits))).toContain("it lacks advisory locks");
  });

  test("does not start if pg_locks lacks advisory locks, also with one connection", async () => {
    const url = await replacing(
      "create view pg_locks as select * from pg_catalog.pg_locks where locktype <> 'advisory'",
    );
    for (const poolSize of [1, 5]) {
      expect(await refusal(openStorage(schema, url, { ...limits, poolSize }))).toContain(
        "it lacks advisory locks in pg_locks, from which readers know which events may still be missing",
      );
    }
  });

  test("does not start if locked rows are not skipped", async () => {
    const url = await replacing(
      "create view pg_tables as select current_schema() as schemaname, 'migrations' as tablename",
      "create view migrations as select '0.1.0' as name",
    );
    expect(await refusal(inspectServer(schema, url, limits))).toContain(
      "it lacks rows that are skipped with FOR UPDATE SKIP LOCKED, without which instances send a notification twice",
    );
  });

  test("does not start if partitions cannot be detached, also with one connection", async () => {
    // The trigger is one of the whole database.
    const name = `skyhook_alike_${crypto.randomUUID().replaceAll("-", "")}`;
    await database.run(`create database ${name}`);
    try {
      const url = new URL(database.url);
      url.pathname = `/${name}`;
      url.searchParams.delete("search_path");
      await using sql = new SQL(url.href, { max: 1 });
      await sql.unsafe(`create function unimplemented() returns event_trigger language plpgsql as $$
        begin raise exception 'unimplemented' using errcode = '0A000'; end $$`);
      await sql.unsafe(`create event trigger no_partitions on ddl_command_start when tag in ('ALTER TABLE')
        execute function unimplemented()`);
      for (const poolSize of [1, 5]) {
        expect(await refusal(openStorage(schema, url.href, { ...limits, poolSize }))).toEndWith(
          "it lacks partitions that can be attached and detached, with which retention removes expired data. Use PostgreSQL itself",
        );
      }
      await sql.unsafe("drop event trigger no_partitions");
      await (await openStorage(schema, url.href, limits)).close();
    } finally {
      await database.run(`drop database ${name} with (force)`);
    }
  });

  test("warns if it delivers no notifications", async () => {
    const url = await replacing(
      "create function pg_notify(text, text) returns void language sql as ''",
    );
    const warning =
      "No notification (LISTEN, NOTIFY) arrived within 5 s, so instances see each other's changes late: use PostgreSQL itself, or raise the pool size of the pooler";
    expect((await inspectServer(schema, url, limits)).warnings).toEqual([warning]);
    const said: string[] = [];
    const storage = await openStorage(schema, url, limits, {
      ...noObserver,
      warning: (line) => void said.push(line),
    });
    for (const topic of ["notifications", "seats"] as const) {
      storage.signals?.listen(
        topic,
        () => {},
        () => {},
      );
    }
    await until(() => said.length > 0, 10_000);
    await storage.close();
    expect(said).toEqual([warning]);
  });

  test("is none of those if it is PostgreSQL, also for instances that start at once", async () => {
    const url = await replacing();
    await (await openStorage(schema, url, limits)).close();
    const opened = await Promise.all(
      Array.from({ length: 5 }, () => openStorage(schema, url, limits)),
    );
    await Promise.all(opened.map((storage) => storage.close()));
    expect((await inspectServer(schema, url, limits)).warnings).toEqual([]);
  });
});
