import { describe, expect, test } from "bun:test";

import { SQL } from "bun";

import { holdStill, noObserver, openStorage } from "../../../../src/db/open.ts";
import { inspectServer } from "../../../../src/db/postgres/inspect.ts";
import { write } from "../../../../src/db/statement.ts";
import { eventById } from "../../../../src/event/event.sql.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { until } from "../../../support/app.ts";
import { refusal } from "../../../support/failure.ts";
import { noOwnPostgres } from "../../../support/own-postgres.ts";
import { noPooler, pooler } from "../../../support/pooler.ts";
import { resources } from "../../../support/resources.ts";
import { eventRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

const taken = resources();
const missing = noOwnPostgres ?? noPooler;
const limits = { poolSize: 5, connectTimeoutMs: 10_000, statementTimeoutMs: 10_000, retryMs: 0 };
/** The line of docs/postgresql.md. */
const ignoring =
  "ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, idle_session_timeout";

describe.skipIf(skips(missing))("postgres: behind PgBouncer", () => {
  const start = async (...lines: string[]) => {
    const database = await taken.ownPostgres();
    const between = await pooler(database.url, ...lines);
    taken.ends.push(() => between.stop());
    return { url: between.url, direct: database.url };
  };

  test("in session mode everything works, including signals, and dropped timeouts cause a warning", async () => {
    const { url, direct } = await start("pool_mode = session", ignoring);
    const said: string[] = [];
    const storage = await openStorage(schema, url, limits, {
      ...noObserver,
      warning: (line) => void said.push(line),
    });
    expect(said.join()).toContain("alter role current_user set statement_timeout = 10000");
    expect((await inspectServer(schema, url, limits)).warnings).toEqual(said);
    expect((await inspectServer(schema, direct, limits)).warnings).toEqual([]);
    const other = await openStorage(schema, url, limits);
    const stored = eventRow(1);
    await storage.atomically(write(insertEvent, stored));
    expect(await other.all(eventById, { id: stored.id })).toHaveLength(1);

    let isHeard = false;
    other.signals?.listen(
      "notifications",
      () => (isHeard = true),
      () => {},
    );
    await until(() => {
      storage.signals?.send("notifications", 1);
      return isHeard;
    }, 10_000);
    await Promise.all([storage.close(), other.close()]);
  }, 60_000);

  test("in transaction mode the start fails, because sessions are shared [PG-11]", async () => {
    const { url } = await start("pool_mode = transaction", ignoring);
    expect(await refusal(openStorage(schema, url, limits))).toContain(
      "a pooler that shares sessions",
    );
    expect(await refusal(inspectServer(schema, url, limits))).toContain(
      "use session mode for this database",
    );
  }, 60_000);

  test("with a full pool, a start and an inspection fail after a timeout", async () => {
    const { url } = await start("pool_mode = session", "default_pool_size = 1", ignoring);
    await using others = new SQL(url, { max: 1 });
    await others.unsafe("select 1");
    const brief = { ...limits, connectTimeoutMs: 500, statementTimeoutMs: 100 };
    for (const ask of [openStorage, inspectServer]) {
      expect(await refusal(ask(schema, url, brief))).toContain("raise the pool size");
    }
  }, 60_000);

  test("a copy times out waiting for a writer, even if the pooler drops timeouts", async () => {
    const { url, direct } = await start("pool_mode = session", ignoring);
    const brief = { ...limits, statementTimeoutMs: 100 };
    await (await openStorage(schema, url, brief)).close();
    await using others = new SQL(direct, { max: 1 });
    await others.begin(async (writer) => {
      await writer.unsafe("lock table events in row exclusive mode");
      expect(await refusal(holdStill(schema, url, brief))).toContain(
        "Other programs are writing to this database",
      );
    });
  }, 60_000);

  test("a copy times out waiting for a connection to lock its source", async () => {
    const { url } = await start("pool_mode = session", "default_pool_size = 2", ignoring);
    const brief = { ...limits, connectTimeoutMs: 500, statementTimeoutMs: 100 };
    const storage = await openStorage(schema, url, brief);
    expect(await refusal(holdStill(schema, url, brief))).toContain("raise the pool size");
    await storage.close();
  }, 60_000);

  test("that rejects startup parameters causes an error with the setting to add", async () => {
    const { url } = await start("pool_mode = session");
    expect(await refusal(openStorage(schema, url, limits))).toContain(
      "set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,idle_session_timeout",
    );
  }, 60_000);
});
