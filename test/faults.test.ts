import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { insertEvent } from "../src/storage/events.ts";
import { step } from "../src/storage/sql.ts";
import { groupCommit } from "../src/storage/sqlite/group-commit.ts";
import { openStorage } from "../src/storage/storage.ts";
import { json, startApp } from "./support/app.ts";
import { failure } from "./support/failure.ts";
import {
  asOperator,
  databaseIn,
  deliverTo,
  delivery,
  integrityOf,
  keyOf,
  keysListed,
} from "./support/load.ts";
import { type RunningServer, runSkyhook } from "./support/program.ts";
import { resources } from "./support/resources.ts";
import { eventRow } from "./support/rows.ts";

// Every wait has a bound of its own; this is for a machine that is busy.
setDefaultTimeout(30_000);

const taken = resources();
const newFolder = () => taken.newFolder();
const start = (...args: Parameters<typeof taken.start>) => taken.start(...args);

const statusOf = async ({ url }: RunningServer, path: string) =>
  (await fetch(`${url}${path}`)).status;

/** A delivery that the database cannot take: 503, and when to come back. */
async function expectUnavailable({ url }: RunningServer, number: number): Promise<void> {
  const response = await fetch(`${url}/webhooks/task_tracker`, delivery(number));
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await json(response)).toMatchObject({ code: "unavailable" });
}

/** Files of the server can grow by so many bytes and no more; null: without bound. */
function limitFiles({ pid }: RunningServer, folder: string, roomBytes: number | null): void {
  const log = `${databaseIn(folder)}-wal`;
  const limit = roomBytes === null ? "unlimited" : statSync(log).size + roomBytes;
  const { exitCode, stderr } = Bun.spawnSync([
    "prlimit",
    `--fsize=${limit}:unlimited`,
    "--pid",
    `${pid}`,
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

const canLimit = Bun.which("prlimit") !== null && Bun.which("bash") !== null;
if (!canLimit) console.log("skipped: a full disk is played by bash and prlimit, not found here");

describe("a full disk", () => {
  test.skipIf(!canLimit)(
    "is answered 503 while it lasts; then all goes on, and nothing acknowledged is lost",
    async () => {
      const folder = newFolder();
      // A write beyond the limit then fails, as on a full disk, instead of ending the process.
      const through = ["bash", "-c", 'trap \'\' XFSZ; exec "$0" "$@"'];
      const server = await start(folder, {}, { through });
      const acknowledged: number[] = [];
      const refused: number[] = [];
      const deliver = async (number: number) => {
        const status = await deliverTo(server, number, 8_000);
        if (status === 200) acknowledged.push(number);
        else refused.push(number);
        return status;
      };
      for (let number = 1; number <= 20; number += 1) expect(await deliver(number)).toBe(200);
      limitFiles(server, folder, 200_000);
      for (let number = 21; refused.length === 0 && number < 200; number += 1)
        await deliver(number);
      expect(acknowledged.length).toBeGreaterThan(20);

      await expectUnavailable(server, 1_000);
      refused.push(1_000);
      const burst = Array.from({ length: 50 }, (_, index) => 2_000 + index);
      expect(await Promise.all(burst.map(deliver))).toEqual(burst.map(() => 503));
      expect(await statusOf(server, "/livez")).toBe(200);
      expect(await statusOf(server, "/readyz")).toBe(503);
      expect((await asOperator(server, "/v1/events")).status).toBe(200);

      limitFiles(server, folder, null);
      for (const number of refused.splice(0)) expect(await deliver(number)).toBe(200);
      expect(await statusOf(server, "/readyz")).toBe(200);
      expect((await keysListed(server)).toSorted()).toEqual(acknowledged.map(keyOf).toSorted());
      expect(await server.stop()).toBe(0);
      expect(integrityOf(databaseIn(folder))).toBe("ok");
    },
  );
});

describe("a database that another process holds", () => {
  test("is waited for a little, then 503; when it is free again all goes on", async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(await deliverTo(server, 1)).toBe(200);
    using other = new Database(databaseIn(folder));
    other.run("begin immediate");
    const startMs = performance.now();
    const waiting = [2, 3, 4].map((number) => expectUnavailable(server, number));
    expect(await statusOf(server, "/livez")).toBe(200);
    expect((await asOperator(server, "/v1/events")).status).toBe(200);
    await Promise.all(waiting);
    expect(performance.now() - startMs).toBeLessThan(5_000);
    const patient = deliverTo(server, 5);
    expect(await statusOf(server, "/livez")).toBe(200);
    other.run("rollback");
    expect(await patient).toBe(200);
    expect(await deliverTo(server, 2)).toBe(200);
    expect((await keysListed(server)).toSorted()).toEqual([1, 2, 5].map(keyOf));
    expect(await statusOf(server, "/readyz")).toBe(200);
  });

  test("while the service starts is waited for", async () => {
    const folder = newFolder();
    expect(await (await start(folder)).stop()).toBe(0);
    using other = new Database(databaseIn(folder));
    other.run("begin exclusive");
    const starting = start(folder);
    setTimeout(() => other.run("rollback"), 800);
    expect(await deliverTo(await starting, 1)).toBe(200);
  });
});

describe("a database whose file", () => {
  test("was removed is not written on in the dark: 503, not ready, but alive", async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(await deliverTo(server, 1)).toBe(200);
    rmSync(join(folder, "data"), { recursive: true });
    await expectUnavailable(server, 2);
    expect(await statusOf(server, "/livez")).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(503);
    expect(server.log()).toContain("was removed or replaced: start skyhook again");
    expect(await server.stop()).toBe(0);
  });

  test("was replaced is not written on in the dark either, and is served when it is back", async () => {
    const folder = newFolder();
    const server = await start(folder);
    const file = databaseIn(folder);
    expect(await deliverTo(server, 1)).toBe(200);
    renameSync(file, `${file}.away`);
    await Bun.write(file, "another");
    await expectUnavailable(server, 2);
    renameSync(`${file}.away`, file);
    expect(await deliverTo(server, 2)).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(200);
    expect((await keysListed(server)).toSorted()).toEqual([1, 2].map(keyOf));
  });

  test("was made read-only while it is open keeps what is acknowledged", async () => {
    const folder = newFolder();
    const server = await start(folder);
    expect(await deliverTo(server, 1)).toBe(200);
    for (const end of ["", "-wal", "-shm"]) chmodSync(`${databaseIn(folder)}${end}`, 0o400);
    const status = await deliverTo(server, 2);
    expect([200, 503]).toContain(status);
    expect(await statusOf(server, "/livez")).toBe(200);
    const kept = (await keysListed(server)).toSorted();
    expect(kept).toEqual((status === 200 ? [1, 2] : [1]).map(keyOf));
  });

  test("is of a newer program: one clear line, and the end", async () => {
    const folder = newFolder();
    expect(await (await start(folder)).stop()).toBe(0);
    const file = databaseIn(folder);
    using other = new Database(file);
    other.run("insert into migrations (name) values ('9999_from_the_future')");
    const { out, err, code } = await runSkyhook(["serve"], {
      cwd: folder,
      env: { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, "data") },
    });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toMatch(/^skyhook: The database is newer than this program .*9999[^\n]*\n$/);
  });
});

describe("units of work", () => {
  const newFile = () => join(newFolder(), "skyhook.db");

  test("that wait for a lock are committed by close, in their order, and later ones refused", async () => {
    const file = newFile();
    const storage = await openStorage(`sqlite:${file}`);
    using other = new Database(file);
    other.run("begin immediate");
    const waiting = [1, 2, 3].map((n) => storage.atomically(step(insertEvent, eventRow(n))));
    const closing = storage.close();
    expect(await failure(storage.atomically(step(insertEvent, eventRow(4))))).toMatchObject({
      code: "unavailable",
    });
    setTimeout(() => other.run("rollback"), 50);
    for (const [result] of await Promise.all(waiting)) expect(result.touched).toBe(1);
    await closing;
    await storage.close();
    expect(other.query("select count(*) from events").values()).toEqual([[3]]);
  });

  test("that wait for a lock that stays are all refused, and close does not wait on", async () => {
    const file = newFile();
    const storage = await openStorage(`sqlite:${file}`);
    using other = new Database(file);
    other.run("begin immediate");
    const waiting = [1, 2, 3].map((n) =>
      failure(storage.atomically(step(insertEvent, eventRow(n)))),
    );
    const startMs = performance.now();
    await storage.close();
    expect(performance.now() - startMs).toBeLessThan(5_000);
    for (const refused of await Promise.all(waiting)) {
      expect(refused).toMatchObject({ code: "unavailable" });
    }
    other.run("rollback");
    expect(other.query("select count(*) from events").values()).toEqual([[0]]);
  });

  test("are refused at once when 20,000 wait, and those are all committed", async () => {
    const file = newFile();
    const storage = await openStorage(`sqlite:${file}`);
    using other = new Database(file);
    other.run("begin immediate");
    const waiting = Array.from({ length: 20_000 }, (_, index) =>
      storage.atomically(step(insertEvent, eventRow(index))),
    );
    expect(await failure(storage.atomically(step(insertEvent, eventRow(20_000))))).toMatchObject({
      code: "unavailable",
      detail: "Too much work is waiting",
    });
    other.run("rollback");
    await Promise.all(waiting);
    expect(other.query("select count(*) from events").values()).toEqual([[20_000]]);
    await storage.close();
  });

  test("find the way free after a disk that refused even to roll back", async () => {
    using client = new Database(":memory:");
    const { atomically } = groupCommit(
      client,
      () => () => ({ rows: [], touched: 1 }),
      () => {},
    );
    client.run("begin immediate");
    expect(await atomically(step(insertEvent, eventRow(1)))).toEqual([{ rows: [], touched: 1 }]);
    expect(client.inTransaction).toBe(false);
  });

  test("of a duplicate that comes while the first waits end as one event", async () => {
    const app = await startApp({ DATABASE_URL: `sqlite:${newFile()}` });
    taken.ends.push(() => app.stop());
    using other = new Database(app.services.config.databaseUrl.slice("sqlite:".length));
    other.run("begin immediate");
    const body = `{"event_name":"item:completed","event_data":{"id":"1"}}`;
    const answers = [1, 2, 3].map(() => app.deliver("task_tracker", body));
    setTimeout(() => other.run("rollback"), 50);
    const told = await Promise.all((await Promise.all(answers)).map(json));
    const statuses = told.map(({ status }) => String(status));
    expect(statuses.toSorted()).toEqual(["accepted", "duplicate", "duplicate"]);
  });
});
