import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { beginCopy } from "../../../../src/cli/host/copy-tables.ts";
import { openCopyTarget, openStorage } from "../../../../src/db/open.ts";
import { write } from "../../../../src/db/statement.ts";
import { insertEvent } from "../../../../src/event/events.sql.ts";
import { insertNotification } from "../../../../src/outbound/model/notifications.sql.ts";
import { schema } from "../../../../src/schema/schema.ts";
import { testSecret, until } from "../../../support/app.ts";
import { noManyConnections } from "../../../support/databases.ts";
import { databaseIn, deliverTo } from "../../../support/load.ts";
import { programName, runSkyhook, spawnSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";
import { eventRow, notificationRow } from "../../../support/rows.ts";
import { skips } from "../../../support/skips.ts";

const taken = resources();
const limits = { poolSize: 3, connectTimeoutMs: 5_000, statementTimeoutMs: 10_000, retryMs: 1_000 };
const unfinished = `A copy into this database was not finished: run \`${programName} copy\` again, or empty it`;

/** A database to copy from, with so many events and notifications. */
async function sourceOf(
  rows: number,
  url = `sqlite:${join(taken.newFolder(), "source.db")}`,
): Promise<string> {
  const storage = await openStorage(schema, url);
  for (let first = 0; first < rows; first += 500) {
    const numbers = Array.from({ length: Math.min(500, rows - first) }, (_, n) => first + n);
    await storage.atomically(
      ...numbers.map((n) => write(insertEvent, eventRow(n))),
      ...numbers.map((n) => write(insertNotification, notificationRow(n))),
    );
  }
  await storage.close();
  return url;
}

/** An empty database of either kind, and how many events it has so far. */
async function newTarget(kind: "SQLite" | "PostgreSQL") {
  const text = "select count(*) as events from events";
  if (kind === "SQLite") {
    const file = join(taken.newFolder(), "target.db");
    const count = () => {
      using client = new Database(file, { readonly: true });
      return Number(client.query(text).values()[0]?.[0]);
    };
    // Before the copy has made it there is no such table.
    const events = () => Promise.try(count).catch(() => 0);
    return { url: `sqlite:${file}`, events, run: () => Promise.resolve([]) };
  }
  const database = await taken.database();
  const count = async () => Number((await database.run(text))[0]?.["events"]);
  const run = (statement: string) => database.run(statement);
  return { url: database.url, events: () => count().catch(() => 0), run };
}

/** Runs a command on a database, with what a server needs and none of it kept there. */
const skyhook = (url: string, args: readonly string[], env: Record<string, string> = {}) =>
  runSkyhook(args, {
    cwd: taken.newFolder(),
    env: {
      ...env,
      DATABASE_URL: url,
      DATABASE_POOL_SIZE: "3",
      WEBHOOK_PROVIDERS: "code_host",
      CODE_HOST_WEBHOOK_SECRET: testSecret("code_host"),
    },
  });

const copy = (from: string, to: string) => skyhook(to, ["copy", "--from", from, "--to", to]);
const signIn = (url: string) => skyhook(url, ["token", "--email", "ada@example.com"]);

/** Begins to copy, and stops the process for a moment once the first events have arrived. */
async function copyHalf(from: string, target: Awaited<ReturnType<typeof newTarget>>) {
  const child = spawnSkyhook(["copy", "--from", from, "--to", target.url], {
    cwd: taken.newFolder(),
    env: { DATABASE_POOL_SIZE: "3" },
  });
  taken.ends.push(() => child.kill("SIGKILL"));
  await until(async () => (await target.events()) > 0, 20_000);
  child.kill("SIGSTOP");
  return child;
}

const kinds = ["SQLite" as const, ...(skips(noManyConnections) ? [] : ["PostgreSQL" as const])];

describe.each(kinds)("a copy into %s that is not finished", (kind) => {
  test("is opened by nothing but a copy, which goes on", async () => {
    const source = await sourceOf(2_000);
    const target = await newTarget(kind);
    const killed = await copyHalf(source, target);
    killed.kill("SIGKILL");
    await killed.exited;
    expect(await target.events()).toBeLessThan(2_000);

    for (const command of [["serve"], ["client", "add", "--name", "x"]]) {
      const { err, code } = await skyhook(target.url, command);
      expect([err, code]).toEqual([`skyhook: ${unfinished}\n`, 1]);
    }
    const { out, code } = await skyhook(target.url, ["doctor"]);
    expect(out).toMatch(/✗ +database +A copy into this database was not finished/);
    expect(code).toBe(1);
    const onward = await copy(target.url, `sqlite:${join(taken.newFolder(), "onward.db")}`);
    expect(onward.err).toContain(`: ${unfinished}\n`);

    expect(await copy(source, target.url)).toMatchObject({ err: "", code: 0 });
    expect(await target.events()).toBe(2_000);
    expect(await signIn(target.url)).toMatchObject({ code: 0 });
  });

  test("stays so when the comparison fails", async () => {
    const source = await sourceOf(10);
    const { url } = await newTarget(kind);
    const storage = await openCopyTarget(schema, url, limits);
    await beginCopy(storage, url);
    await storage.atomically(write(insertEvent, eventRow(3, { title: "Another" })));
    await storage.close();
    expect((await copy(source, url)).err).toContain("The databases differ in events");
    expect((await signIn(url)).err).toBe(`skyhook: ${unfinished}\n`);
  });
});

test("a file that was copied into by half is no backup, and makes none", async () => {
  const { url } = await newTarget("SQLite");
  const storage = await openCopyTarget(schema, url, limits);
  await beginCopy(storage, url);
  await storage.close();
  const file = url.slice("sqlite:".length);
  const wanted = `${file} cannot be used (a copy into it was not finished)`;
  expect((await skyhook(url, ["backup", "copy.db"])).err).toContain(wanted);
  expect((await skyhook("sqlite:new.db", ["restore", file])).err).toContain(wanted);
});

describe.each(kinds)("skyhook copy and %s", (kind) => {
  test("refuses a database with rows of its own, and leaves it to its users", async () => {
    const { url } = await newTarget(kind);
    await signIn(url);
    const { err, code } = await copy(await sourceOf(1), url);
    expect(err).toMatch(/ is not empty \(it has users\): copy into an empty database\n$/);
    expect(code).toBe(1);
    expect(await signIn(url)).toMatchObject({ code: 0 });
  });

  test("refuses to copy from or into what a server has open", async () => {
    const folder = taken.newFolder();
    const { url } = kind === "SQLite" ? { url: null } : await newTarget(kind);
    const server = await taken.start(folder, url === null ? {} : { DATABASE_URL: url });
    const served = url ?? `sqlite:${databaseIn(folder)}`;
    const empty = `sqlite:${join(folder, "empty.db")}`;
    for (const [from, to] of [
      [served, empty],
      [await sourceOf(1), served],
    ] as const) {
      const { err, code } = await copy(from, to);
      expect(err).toMatch(/ is in use: stop the servers, then copy\n$/);
      expect(code).toBe(1);
    }
    expect(await deliverTo(server, 1)).toBe(200);
    await server.stop();
    expect(await copy(served, empty)).toMatchObject({ err: "", code: 0 });
  });

  test("does not pass a source that was opened while it copied", async () => {
    const target = await newTarget(kind);
    const source = await sourceOf(2_000);
    const child = await copyHalf(source, target);
    using other = new Database(source.slice("sqlite:".length));
    other.query("select 1 from events").get();
    child.kill("SIGCONT");
    expect(await child.stderr.text()).toMatch(/source\.db is in use: stop the servers, then copy/);
    expect((await signIn(target.url)).err).toBe(`skyhook: ${unfinished}\n`);
  });
});

/** A copy that is stopped in the middle, and what it copies from. */
async function copying(kind: (typeof kinds)[number]) {
  const source = await newTarget(kind);
  await sourceOf(2_000, source.url);
  const target = await newTarget("SQLite");
  return { source, target, child: await copyHalf(source.url, target) };
}

describe.each(kinds)("while it is copied, a source on %s", (kind) => {
  test("is written to by nobody, so that nothing comes in behind the comparison", async () => {
    const { source, target, child } = await copying(kind);
    const impatient = { DATABASE_STATEMENT_TIMEOUT_MS: "200" };
    const { err, code } = await skyhook(
      source.url,
      ["token", "--email", "a@example.com"],
      impatient,
    );
    expect(err).toMatch(/ is locked by another program: | cannot be used at the moment; /);
    expect(code).toBe(1);
    const second = `sqlite:${join(taken.newFolder(), "second.db")}`;
    const beside = await skyhook(second, ["copy", "--from", source.url, "--to", second], impatient);
    expect(beside.err).toMatch(
      / is in use: |: Other programs are writing to this database or copying it: stop them/,
    );
    child.kill("SIGCONT");
    // Its progress: it was stopped for some seconds.
    const progress = expect.stringMatching(/^(?:copying \w+: .+\n)*$/);
    expect([await child.stderr.text(), await child.exited]).toEqual([progress, 0]);
    for (const { url } of [source, target]) expect(await signIn(url)).toMatchObject({ code: 0 });
  });
});

test.skipIf(skips(noManyConnections))(
  "an instance is still found when its connection was made anew",
  async () => {
    const database = await taken.database();
    await taken.start(taken.newFolder(), { DATABASE_URL: database.url });
    const listening =
      "from pg_stat_activity where application_name = current_setting('application_name') and query like 'LISTEN%'";
    const listeners = () => database.run(`select pid ${listening}`);
    await until(async () => (await listeners()).length > 0);
    const before = await listeners();
    await database.run(`select pg_terminate_backend(pid) ${listening}`);
    await until(async () => {
      const now = await listeners();
      return now.length > 0 && now[0]?.["pid"] !== before[0]?.["pid"];
    }, 20_000);
    expect((await copy(await sourceOf(1), database.url)).err).toContain("is in use");
  },
);

test.skipIf(skips(noManyConnections))(
  "a source that was not held all the time is not said to be copied",
  async () => {
    const { source, target, child } = await copying("PostgreSQL");
    const ended = await source.run(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = current_setting('application_name') and query like 'lock table%'",
    );
    expect(ended).toHaveLength(1);
    child.kill("SIGCONT");
    expect(await child.stderr.text()).toContain("was not locked all the time during the copy");
    expect((await signIn(target.url)).err).toBe(`skyhook: ${unfinished}\n`);
  },
);
