import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

import { json, until } from "../../support/app.ts";
import { asOperator, databaseIn, deliverTo, keysListed } from "../../support/load.ts";
import { programName, type RunningServer, runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { expectUnavailable, statusOf } from "../../support/unavailable.ts";

const taken = resources();
const pageBytes = 8_192;
const stored = 60;
const whatToDo = "The database is damaged: stop skyhook, keep a copy of the file, and restore";

/** A server whose deliveries are all in the database file, none of them only in the write-ahead log. */
async function startWithDeliveries() {
  const folder = taken.newFolder();
  const server = await taken.start(folder);
  for (let number = 0; number < stored; number += 1) {
    expect(await deliverTo(server, number, 2_000)).toBe(200);
  }
  const file = databaseIn(folder);
  using other = new Database(file);
  // A checkpoint that meets a writer of the server does nothing and says so.
  await until(() => {
    const [result] = other.query("pragma wal_checkpoint(truncate)").values();
    return result?.[0] === 0;
  });
  const backup = join(folder, "backup.db");
  copyFileSync(file, backup);
  return { folder, server, file, backup };
}

/** Overwrites all data pages. */
function overwrite(file: string): void {
  const pages = statSync(file).size / pageBytes;
  const descriptor = openSync(file, "r+");
  // The earlier pages hold the root page of each table and index.
  for (let page = 50; page < pages; page += 1) {
    writeSync(descriptor, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, page * pageBytes);
  }
  closeSync(descriptor);
}

async function expectReadUnavailable(server: RunningServer, path: string): Promise<void> {
  const response = await asOperator(server, path);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  const problem = await json(response);
  expect(problem).toMatchObject({ code: "unavailable" });
  expect(JSON.stringify(problem)).not.toMatch(/malformed|damaged/);
}

describe("damaged pages in the middle of the database", () => {
  test("cause 503 for requests that need them; the process keeps running and logs what to do [DB-13]", async () => {
    const { folder, server, file, backup } = await startWithDeliveries();
    overwrite(file);
    await expectReadUnavailable(server, "/v1/events?limit=100");
    await expectUnavailable(server, 1_000, 2_000);
    await expectUnavailable(server, 0, 2_000);
    expect(await statusOf(server, "/livez")).toBe(200);
    // Readiness means that transactions commit, so it depends on whether writes touch damaged pages.
    expect([200, 503]).toContain(await statusOf(server, "/readyz"));
    // The log may be written after the response.
    await until(() => server.log().includes(whatToDo));
    expect(server.log()).not.toContain('"msg":"An internal error occurred. Try again later."');
    expect(await server.stop()).toBe(0);

    copyFileSync(backup, file);
    const again = await taken.start(folder);
    expect(await keysListed(again)).toHaveLength(stored);
    expect(await deliverTo(again, 1_000)).toBe(200);
  });

  test("that SQLite cannot detect also cause 503, and do not affect other data [DB-14]", async () => {
    const { server, file } = await startWithDeliveries();
    using other = new Database(file);
    // The server may be indexing what was delivered.
    other.run("pragma busy_timeout = 5000");
    // Same length, same place: the file stays valid for SQLite.
    other.run(
      "update events set data = replace(data, '{', '~') where idempotency_key like '%:d-7'",
    );
    await expectReadUnavailable(server, "/v1/events?limit=100");
    // The log may be written after the response.
    await until(() => server.log().includes(whatToDo));
    expect((await asOperator(server, "/v1/events?limit=20")).status).toBe(200);
    expect(await deliverTo(server, 1_000)).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(200);
  });

  test("prevent the start, with one line that names the file [DB-15]", async () => {
    const { folder, server, file } = await startWithDeliveries();
    expect(await server.stop()).toBe(0);
    const descriptor = openSync(file, "r+");
    writeSync(descriptor, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, 0);
    closeSync(descriptor);
    const { out, err, code } = await runSkyhook(["serve"], {
      cwd: folder,
      env: { DATA_DIR: join(folder, "data") },
    });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^skyhook: The database \S+ cannot be read [^\n]*: restore a backup[^\n]*\n$/,
    );
  });
});

describe("a database file of 0 bytes", () => {
  const run = (folder: string, ...args: string[]) =>
    runSkyhook(args, { cwd: folder, env: { DATA_DIR: join(folder, "data"), PORT: "0" } });

  test("prevents the start and every command if the database was in use before [DB-18]", async () => {
    const { folder, server, file, backup } = await startWithDeliveries();
    await server.kill();
    truncateSync(file);
    const key = join(folder, "data/personal_data_key");
    // First the command: a server that started would not end.
    for (const command of [["client", "list"], ["serve"]]) {
      const { out, err, code } = await run(folder, ...command);
      expect([code, out]).toEqual([1, ""]);
      // The log is named too, if the kill left one.
      expect(err).toStartWith(
        `skyhook: The database ${file} has 0 bytes, but was in use before (${key}`,
      );
      expect(err).toContain("): its data is lost. ");
      expect(err).toEndWith(
        `Restore a backup with \`${programName} restore FILE --force\`, or remove ${file} to start without data\n`,
      );
    }
    expect((await run(folder, "doctor")).out).toContain(`${file} has 0 bytes`);
    expect(statSync(file).size).toBe(0);

    expect(await run(folder, "restore", backup, "--force")).toMatchObject({ code: 0 });
    const restored = await taken.start(folder);
    expect(await keysListed(restored)).toHaveLength(stored);
    await restored.kill();

    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    expect(await keysListed(await taken.start(folder))).toHaveLength(0);
  });

  test("whose log has data prevents the start without key files", async () => {
    const folder = taken.newFolder();
    mkdirSync(join(folder, "data"));
    writeFileSync(databaseIn(folder), "");
    writeFileSync(`${databaseIn(folder)}-wal`, "frames");
    const { code, err } = await run(folder, "serve");
    expect([code, err]).toEqual([1, expect.stringContaining(`before (${databaseIn(folder)}-wal)`)]);
    expect(statSync(`${databaseIn(folder)}-wal`).size).toBe(6);
  });

  test("is a new database if nothing else is there", async () => {
    const folder = taken.newFolder();
    mkdirSync(join(folder, "data"));
    writeFileSync(databaseIn(folder), "");
    expect(await deliverTo(await taken.start(folder), 1)).toBe(200);
  });
});

describe("a database file that was truncated while open", () => {
  test("never causes a wrong answer, at worst a crash; a restored backup works [DB-16]", async () => {
    const { folder, server, file, backup } = await startWithDeliveries();
    const list = () => asOperator(server, "/v1/events?limit=100");
    const before = await (await list()).text();
    truncateSync(file, 50 * pageBytes);
    // The file is memory-mapped: reading a truncated part raises SIGBUS, which ends the process. Pages that
    // are still in the log or in memory are served as before.
    const answer = await list().catch(() => null);
    if (answer?.status === 200) expect(await answer.text()).toBe(before);
    else expect([503, undefined]).toContain(answer?.status);
    await server.kill();
    copyFileSync(backup, file);
    const again = await taken.start(folder);
    expect(await keysListed(again)).toHaveLength(stored);
  });
});
