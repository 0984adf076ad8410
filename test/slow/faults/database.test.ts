import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import {
  asOperator,
  databaseIn,
  deliverTo,
  integrityOf,
  keyOf,
  keysListed,
} from "../../support/load.ts";
import { type RunningServer, runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { openedBeside } from "../../support/rows.ts";
import { notInstalled, notRoot, skips } from "../../support/skips.ts";
import { expectUnavailable, statusOf } from "../../support/unavailable.ts";

const taken = resources();

/** A server that has stored so many deliveries. */
async function storing(count: number) {
  const folder = taken.newFolder();
  const server = await taken.start(folder);
  for (let number = 1; number <= count; number += 1)
    expect(await deliverTo(server, number)).toBe(200);
  const file = databaseIn(folder);
  await idle(`${file}-wal`);
  return { folder, server, file };
}

/** Waits until nothing is written to the log, such as the search index: what damages it must not race with that. */
async function idle(log: string): Promise<void> {
  for (let before = -1, quiet = 0; quiet < 5;) {
    const size = statSync(log).size + statSync(log).mtimeMs;
    quiet = size === before ? quiet + 1 : 0;
    before = size;
    await Bun.sleep(50);
  }
}

const expectStored = async (server: RunningServer, numbers: readonly number[]) =>
  expect((await keysListed(server)).toSorted()).toEqual(numbers.map(keyOf));

/** Like a file system that the kernel has remounted read-only: not even root can write. */
function makeImmutable(files: readonly string[], on: boolean): boolean {
  if (notInstalled("chattr") !== null) return false;
  return Bun.spawnSync(["chattr", on ? "+i" : "-i", ...files]).success;
}

const canMakeImmutable = (() => {
  const file = join(tmpdir(), `skyhook-${crypto.randomUUID()}`);
  writeFileSync(file, "");
  const can = makeImmutable([file], true) && makeImmutable([file], false);
  rmSync(file);
  return can;
})();
const notImmutable = canMakeImmutable
  ? null
  : (notRoot ?? "the tests may not make a file immutable: chattr +i fails");

describe("a database that another process has locked", () => {
  test("waits briefly, then answers 503, and recovers when the lock is released [DB-6]", async () => {
    const { file, server } = await storing(1);
    using other = openedBeside(file);
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
    await expectStored(server, [1, 2, 5]);
    expect(await statusOf(server, "/readyz")).toBe(200);
  });

  test("delays the start until the lock is released [DB-7]", async () => {
    const { folder, server, file } = await storing(0);
    expect(await server.stop()).toBe(0);
    using other = openedBeside(file);
    other.run("begin exclusive");
    const starting = taken.start(folder);
    setTimeout(() => other.run("rollback"), 800);
    expect(await deliverTo(await starting, 1)).toBe(200);
  });
});

describe("a database whose file", () => {
  test("was removed is not written to: 503, not ready, but alive [DB-8]", async () => {
    const { file, server } = await storing(1);
    rmSync(dirname(file), { recursive: true });
    await expectUnavailable(server, 2);
    expect(await statusOf(server, "/livez")).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(503);
    await server.printed("was removed or replaced: start skyhook again");
    expect(await server.stop()).toBe(0);
  });

  test.each([
    ["the index of its log was removed", (log: string) => rmSync(log.replace(/wal$/, "shm"))],
    ["its log was removed", (log: string) => rmSync(log)],
    ["its log was emptied", (log: string) => truncateSync(log)],
    ["its log was cut short", (log: string) => truncateSync(log, statSync(log).size - 1)],
  ])("rejects writes when %s, and is intact after a kill [DB-10]", async (_, damage) => {
    const { folder, server, file } = await storing(20);
    damage(`${file}-wal`);
    await expectUnavailable(server, 21);
    const { env } = server;
    const token = await runSkyhook(["token", "--email", "a@example.com"], { cwd: folder, env });
    expect([token.code, token.out]).toEqual([1, ""]);
    expect(token.err).toMatch(/^skyhook: .*(removed|cut short|truncated).*start skyhook again\n$/);
    await expectUnavailable(server, 22);
    expect(await statusOf(server, "/livez")).toBe(200);
    await server.kill();
    expect(integrityOf(file)).toBe("ok");
    expect(await deliverTo(await taken.start(folder), 23)).toBe(200);
  });

  test.each([
    ["the index of its log was removed", (log: string) => rmSync(log.replace(/wal$/, "shm")), 20],
    ["its log was removed", (log: string) => rmSync(log), 20],
    ["its log was cut short", (log: string) => truncateSync(log, statSync(log).size - 1), 19],
  ])("keeps all data after a stop when %s", async (_, damage, left) => {
    const { folder, server, file } = await storing(20);
    damage(`${file}-wal`);
    await expectUnavailable(server, 21);
    expect(await server.stop()).toBe(0);
    expect(integrityOf(file)).toBe("ok");
    const kept = await keysListed(await taken.start(folder));
    expect(kept.length).toBeGreaterThanOrEqual(left);
  });

  test("keeps working when another program truncated its log after a checkpoint", async () => {
    const { file, server } = await storing(1);
    using other = new Database(file);
    other.run("pragma wal_checkpoint(truncate)");
    expect(statSync(`${file}-wal`).size).toBe(0);
    expect(await deliverTo(server, 2)).toBe(200);
    await expectStored(server, [1, 2]);
  });

  test("was replaced is not written to, and is used again when it is restored [DB-9]", async () => {
    const { file, server } = await storing(1);
    renameSync(file, `${file}.away`);
    await Bun.write(file, "another");
    await expectUnavailable(server, 2);
    renameSync(`${file}.away`, file);
    expect(await deliverTo(server, 2)).toBe(200);
    expect(await statusOf(server, "/readyz")).toBe(200);
    await expectStored(server, [1, 2]);
  });

  test("was made read-only while open keeps acknowledged deliveries", async () => {
    const { file, server } = await storing(1);
    for (const end of ["", "-wal", "-shm"]) chmodSync(`${file}${end}`, 0o400);
    const status = await deliverTo(server, 2);
    expect([200, 503]).toContain(status);
    expect(await statusOf(server, "/livez")).toBe(200);
    const kept = (await keysListed(server)).toSorted();
    expect(kept).toEqual((status === 200 ? [1, 2] : [1]).map(keyOf));
  });

  test.skipIf(skips(notImmutable))(
    "is no longer writable answers 503 to writes, still serves reads, and recovers [DB-5]",
    async () => {
      const { server, file } = await storing(1);
      const files = ["", "-wal"].map((end) => `${file}${end}`);
      makeImmutable(files, true);
      taken.ends.push(() => makeImmutable(files, false));
      await expectUnavailable(server, 2);
      expect(await statusOf(server, "/livez")).toBe(200);
      expect(await statusOf(server, "/readyz")).toBe(503);
      expect(await keysListed(server)).toEqual([keyOf(1)]);
      await server.printed("check the system log");
      makeImmutable(files, false);
      expect(await deliverTo(server, 2)).toBe(200);
      expect(await statusOf(server, "/readyz")).toBe(200);
      await expectStored(server, [1, 2]);
    },
  );

  test("was written by a newer program prevents the start with one line [DB-12]", async () => {
    const { folder, server, file } = await storing(0);
    expect(await server.stop()).toBe(0);
    using other = new Database(file);
    other.run("insert into migrations (name) values ('9.9.0 from the future')");
    const { out, err, code } = await runSkyhook(["serve"], {
      cwd: folder,
      env: { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, "data") },
    });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toMatch(
      /^skyhook: The database is newer than this program .*skyhook 9\.9\.0 migrated it[^\n]*\n$/,
    );
  });
});
