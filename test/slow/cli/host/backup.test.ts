import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { copyDatabase } from "../../../../src/db/sqlite/backup.ts";
import { until } from "../../../support/app.ts";
import { book, flightsIn } from "../../../support/booked.ts";
import { databaseIn, deliverTo, integrityOf, keyOf, keysListed } from "../../../support/load.ts";
import { type RunningServer, runSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";
import { openedBeside } from "../../../support/rows.ts";
import { notInstalled, skips } from "../../../support/skips.ts";

const taken = resources();

/** A server, what its commands run with, and a name for a backup that is not there yet. */
async function setUp() {
  const folder = taken.newFolder();
  const server = await taken.start(folder);
  return { folder, server, file: join(folder, "copy.db") };
}

const skyhook = (server: RunningServer, ...args: string[]) => runSkyhook(args, server);

/** Runs a command that has to succeed; what it printed. */
async function succeed(server: RunningServer, ...args: string[]): Promise<string> {
  const { code, out, err } = await skyhook(server, ...args);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
}

/** Delivers the numbers from `first` to `last`, all of which have to be acknowledged. */
async function deliver(server: RunningServer, first: number, last: number): Promise<void> {
  for (let number = first; number <= last; number += 1) {
    expect(await deliverTo(server, number)).toBe(200);
  }
}

const keysOf = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => keyOf(first + index)).toSorted();

function keysIn(file: string): string[] {
  using database = new Database(file, { readonly: true });
  return database.query("select idempotency_key from events").values().flat().map(String);
}

/** Makes the database large, so that to copy it takes a while. */
function fatten(folder: string, megabytes: number): void {
  using database = openedBeside(databaseIn(folder));
  database.run(
    `insert into rejections with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${megabytes * 10})
     select printf('rej_%032d', n), 'task_tracker', n, 'x', '', '', '{}', '{}', 100000, randomblob(100000) from numbers`,
  );
}

const partials = (folder: string) => readdirSync(folder).filter((name) => /\.partial/.test(name));

describe("skyhook backup", () => {
  test("is of the moment it began: what is committed meanwhile neither comes in nor sets it back", async () => {
    const folder = taken.newFolder();
    const [from, to] = [join(folder, "from.db"), join(folder, "to.db")];
    using writer = new Database(from, { create: true });
    writer.run("pragma journal_mode = wal");
    writer.run("create table numbers (n integer, padding blob)");
    const insert = writer.query("insert into numbers values (?, randomblob(4000))");
    writer.transaction(() => {
      for (let number = 1; number <= 5_000; number += 1) insert.run(number);
    })();
    writeFileSync(to, "");
    const done: number[] = [];
    await copyDatabase(from, to, (doneBytes) => {
      done.push(doneBytes);
      insert.run(0);
    });
    expect(done.length).toBeGreaterThan(3);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
    using copy = new Database(to, { readonly: true });
    expect(copy.query("select count(*), min(n) from numbers").values()).toEqual([[5_000, 1]]);
    expect(copy.query("pragma journal_mode").values()).toEqual([["delete"]]);
  });

  test("under load holds all that was acknowledged before it began, and nothing by half", async () => {
    const { folder, server, file } = await setUp();
    await deliver(server, 1, 50);
    fatten(folder, 40);
    let loading = true;
    let last = 50;
    const acknowledged = new Set<number>();
    const work = async () => {
      while (loading) {
        const number = ++last;
        if ((await deliverTo(server, number)) === 200) acknowledged.add(number);
      }
    };
    const load = Promise.all(Array.from({ length: 8 }, work));
    await until(() => acknowledged.size > 100);
    const before = [...acknowledged];
    const out = await succeed(server, "backup", file);
    loading = false;
    await load;

    expect(out).toMatch(/^4\d MB backed up to \S+copy\.db and checked\n/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "data"]);
    expect(integrityOf(file)).toBe("ok");
    const kept = new Set(keysIn(file));
    expect(keysOf(1, 50).filter((key) => !kept.has(key))).toEqual([]);
    expect(before.map(keyOf).filter((key) => !kept.has(key))).toEqual([]);
    expect([...kept].filter((key) => !keysOf(1, last).includes(key))).toEqual([]);
    // Nothing was refused meanwhile, and the copy is of a moment in the midst of it.
    expect(acknowledged.size).toBe(last - 50);
    expect(kept.size).toBeLessThan(last);
    using database = new Database(file, { readonly: true });
    const halves =
      "select count(*) from events full join notifications on event = events.position where events.position is null or event is null";
    expect(database.query(halves).values()).toEqual([[0]]);
  });

  test("lists the secrets to store with it, and their places", async () => {
    const { folder, server, file } = await setUp();
    mkdirSync(join(folder, "secrets"));
    writeFileSync(join(folder, "secrets", "code_host_webhook_secret"), "a secret");
    const out = await succeed(server, "backup", file);
    expect(out).toContain(
      `${join(folder, "data", "personal_data_key")}  decrypts birth dates and passports, which are lost without it\n`,
    );
    expect(out).toContain("JWT_SECRET  ");
    expect(out).toContain("TASK_TRACKER_WEBHOOK_SECRET  ");
    expect(out).toContain("secrets/code_host_webhook_secret  ");
    expect(out).not.toContain("shared_inbox");
  });

  test("replaces a file only with --force, and never the database or its log", async () => {
    const { folder, server, file } = await setUp();
    await deliver(server, 1, 1);
    writeFileSync(file, "dear to someone");
    const refused = await skyhook(server, "backup", file);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(/copy\.db already exists: .* --force\n$/);
    expect(readFileSync(file, "utf8")).toBe("dear to someone");
    await succeed(server, "backup", file, "--force");
    expect(keysIn(file)).toEqual([keyOf(1)]);
    for (const own of [databaseIn(folder), `${databaseIn(folder)}-wal`]) {
      const { code, err } = await skyhook(server, "backup", own, "--force");
      expect({ code, err }).toEqual({
        code: 2,
        err: `skyhook: ${own} is the database itself: name another file\n`,
      });
    }
    expect((await skyhook(server, "backup", folder, "--force")).code).toBe(2);
    await deliver(server, 2, 2);
    expect((await keysListed(server)).length).toBe(2);
  });

  test.skipIf(skips(notInstalled("bash")))("reports a full disk and leaves no file", async () => {
    const { folder, server, file } = await setUp();
    fatten(folder, 20);
    // A write beyond the limit then fails, as on a full disk, instead of ending the process.
    const through = ["bash", "-c", `trap '' XFSZ; ulimit -f 10000; exec "$0" "$@"`];
    const { code, err } = await runSkyhook(["backup", file], { ...server, through });
    expect(code).toBe(1);
    expect(err).toMatch(/^skyhook: The copy failed \(.+\): check that \S+ .* has free space\n$/);
    expect(readdirSync(folder)).toEqual(["data"]);
    await deliver(server, 1, 1);
  });

  test("of a damaged database fails and leaves nothing", async () => {
    const { folder, server, file } = await setUp();
    fatten(folder, 1);
    expect(await server.stop()).toBe(0);
    damage(databaseIn(folder));
    const { code, err } = await skyhook(server, "backup", file);
    expect(code).toBe(1);
    expect(err).toMatch(/skyhook\.db is damaged \(.+\): use an earlier backup\n$/);
    expect(readdirSync(folder)).toEqual(["data"]);
  });

  test("without a database makes none", async () => {
    const folder = taken.newFolder();
    const env = { DATA_DIR: join(folder, "data") };
    const missing = await runSkyhook(["backup", "copy.db"], { cwd: folder, env });
    expect(missing.code).toBe(1);
    expect(missing.err).toMatch(
      /^skyhook: The database .* does not exist: check DATA_DIR and DATABASE_URL\n$/,
    );
    for (const [command, tool] of [
      ["backup", "pg_dump"],
      ["restore", "pg_restore"],
    ] as const) {
      const elsewhere = { ...env, DATABASE_URL: "postgres://127.0.0.1:1/skyhook" };
      const server = await runSkyhook([command, "copy.db"], { cwd: folder, env: elsewhere });
      expect([server.code, server.err]).toEqual([1, expect.stringContaining(`with ${tool}`)]);
    }
    const memory = await runSkyhook(["backup", "copy.db"], {
      cwd: folder,
      env: { ...env, DATABASE_URL: "sqlite::memory:" },
    });
    expect(memory.code).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Overwrites pages in the middle, where the tables are. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0x5a, 3 * 8_192, 12 * 8_192);
  writeFileSync(file, bytes);
}

describe("skyhook restore", () => {
  test("restores exactly what was acknowledged before the backup, and keeps the former database", async () => {
    const { folder, server, file } = await setUp();
    const database = databaseIn(folder);
    await deliver(server, 1, 30);
    await succeed(server, "backup", file);
    await deliver(server, 31, 40);
    // What came later is in the log, which must not find its way into what is restored.
    await server.kill();
    expect(statSync(`${database}-wal`).size).toBeGreaterThan(0);

    const out = await succeed(server, "restore", file, "--force");
    expect(out).toContain(`restored to ${database} and checked; start skyhook now\n`);
    const aside = /The former database is (\S+): delete it/.exec(out)?.[1] ?? "";
    expect(keysIn(aside).toSorted()).toEqual(keysOf(1, 40));
    expect(statSync(database).mode & 0o777).toBe(0o600);
    expect(existsSync(`${database}-wal`)).toBe(false);

    const again = await taken.start(folder);
    expect((await keysListed(again)).toSorted()).toEqual(keysOf(1, 30));
    // A provider that tries again finds what was kept, and may bring again what was not.
    await deliver(again, 30, 31);
    expect((await keysListed(again)).toSorted()).toEqual(keysOf(1, 31));
    expect(await again.stop()).toBe(0);
    expect(integrityOf(database)).toBe("ok");
    expect(partials(join(folder, "data"))).toEqual([]);
  });

  test("works where there is no database, and no more than the log of a lost one", async () => {
    const { folder, server, file } = await setUp();
    await deliver(server, 1, 5);
    await succeed(server, "backup", file);
    await deliver(server, 6, 9);
    await server.kill();
    rmSync(databaseIn(folder));
    await succeed(server, "restore", file);
    expect((await keysListed(await taken.start(folder))).toSorted()).toEqual(keysOf(1, 5));
  });

  test("refuses to replace a database without --force, and one that a server uses even with it", async () => {
    const { server, file } = await setUp();
    await deliver(server, 1, 2);
    await succeed(server, "backup", file);
    await deliver(server, 3, 3);
    const careful = await skyhook(server, "restore", file);
    expect(careful.code).toBe(1);
    expect(careful.err).toContain("--force replaces it and keeps it under another name");
    const live = await skyhook(server, "restore", file, "--force");
    expect(live.code).toBe(1);
    expect(live.err).toMatch(/skyhook\.db is in use: stop the server, then restore\n$/);
    await deliver(server, 4, 4);
    expect((await keysListed(server)).toSorted()).toEqual(keysOf(1, 4));
  });

  test("refuses what is no backup, damaged, of a newer program, or the database itself", async () => {
    const { folder, server, file } = await setUp();
    const database = databaseIn(folder);
    await deliver(server, 1, 1);
    fatten(folder, 1);
    await succeed(server, "backup", file);
    expect(await server.stop()).toBe(0);
    const refusal = async (name: string) => {
      const { code, err } = await skyhook(server, "restore", name, "--force");
      expect(code).toBe(1);
      return err;
    };
    const other = join(folder, "other.db");
    writeFileSync(
      other,
      "no database at all, but long enough to be read as the head of one".repeat(99),
    );
    expect(await refusal(other)).toContain("other.db cannot be used (file is not a database)");
    rmSync(other);
    using strange = new Database(other, { create: true });
    strange.run("create table notes (text text)");
    expect(await refusal(other)).toContain("it is not a Skyhook database");
    writeFileSync(other, readFileSync(file));
    damage(other);
    expect(await refusal(other)).toContain("other.db is damaged (");
    using newer = new Database(file);
    newer.run("insert into migrations (name) values ('9.9.0 from the future')");
    expect(await refusal(file)).toContain("(0.1.0): skyhook 9.9.0 migrated it.");
    expect(await refusal(database)).toContain("is the database itself");
    expect(await refusal(join(folder, "nothing.db"))).toContain("does not exist");
    expect(readdirSync(join(folder, "data")).toSorted()).toEqual([
      "personal_data_key",
      "skyhook.db",
      "skyhook.lock",
    ]);
    expect(keysIn(database)).toEqual([keyOf(1)]);
  });

  test("replaces a damaged database and keeps it", async () => {
    const { folder, server, file } = await setUp();
    await deliver(server, 1, 2);
    await succeed(server, "backup", file);
    expect(await server.stop()).toBe(0);
    writeFileSync(databaseIn(folder), "rubbish".repeat(1_000));
    writeFileSync(`${databaseIn(folder)}-wal`, "more of it");
    const out = await succeed(server, "restore", file, "--force");
    const aside = /The former database is (\S+): delete it/.exec(out)?.[1] ?? "";
    expect(readFileSync(aside, "utf8").slice(0, 7)).toBe("rubbish");
    expect((await keysListed(await taken.start(folder))).toSorted()).toEqual(keysOf(1, 2));
  });

  test("warns if the present keys cannot decrypt the passports of the backup", async () => {
    const { folder, server, file } = await setUp();
    await succeed(server, "import", flightsIn(folder));
    const booked = await book(server);
    expect(booked.status).toBe(201);
    await succeed(server, "backup", file);
    expect(await server.stop()).toBe(0);
    await succeed(server, "restore", file, "--force");
    const key = join(folder, "data", "personal_data_key");
    renameSync(key, `${key}.kept`);
    const lost = await skyhook(server, "restore", file, "--force");
    expect(lost.code).toBe(0);
    expect(lost.err).toContain("restore the personal_data_key that was stored with this backup");
    expect(existsSync(key)).toBe(false);
    writeFileSync(key, Buffer.alloc(32, 1).toString("base64"));
    expect((await skyhook(server, "restore", file, "--force")).err).toBe(lost.err);
    renameSync(`${key}.kept`, key);
    await succeed(server, "restore", file, "--force");
  });
});
