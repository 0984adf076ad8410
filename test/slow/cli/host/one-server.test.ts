import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { databaseIn, deliverTo, keyOf, keysListed } from "../../../support/load.ts";
import { runSkyhook } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const taken = resources();

/** Starts another one on the same database, which is to end by itself. */
async function startSecond(folder: string, env: Record<string, string> = {}) {
  const data = { DATA_DIR: join(folder, "data"), PORT: "0", ...env };
  return runSkyhook(["serve"], { cwd: folder, env: data });
}

describe("a second server on the same folder", () => {
  test("does not start, and names the process of the first, which serves on [DB-11]", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    const { code, out, err } = await startSecond(folder);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toBe(
      `skyhook: Another skyhook (process ${first.pid}) already serves the database in ${join(folder, "data")}: stop it first, or set DATA_DIR or DATABASE_URL to another folder\n`,
    );
    expect(await deliverTo(first, 1)).toBe(200);
  });

  test("does not start by another path to it", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    symlinkSync(databaseIn(folder), join(folder, "linked.db"));
    const env = { DATA_DIR: folder, DATABASE_URL: `sqlite:${join(folder, "linked.db")}` };
    const { code, err } = await startSecond(folder, env);
    expect([code, err]).toEqual([1, expect.stringContaining(`process ${first.pid}`)]);
  });

  test("does not start where the first has the same process id, as in two containers", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    const note = { pid: 1, host: "0a1b2c3d4e5f", files: [] };
    writeFileSync(join(folder, "data/skyhook.lock.json"), JSON.stringify(note));
    const { code, err } = await startSecond(folder);
    expect([code, err]).toEqual([1, expect.stringContaining("process 1 on 0a1b2c3d4e5f")]);
    expect(await first.stop()).toBe(0);
  });

  test("starts as soon as the first was killed, whoever has its process id now", async () => {
    const folder = taken.newFolder();
    const first = await taken.start(folder);
    expect(await deliverTo(first, 1)).toBe(200);
    await first.kill();
    const note = { pid: process.pid, host: hostname(), files: ["1:2", "1:3", "1:4"] };
    writeFileSync(join(folder, "data/skyhook.lock.json"), JSON.stringify(note));
    const second = await taken.start(folder);
    expect(await keysListed(second)).toEqual([keyOf(1)]);
  });

  test("starts after the first was stopped", async () => {
    const folder = taken.newFolder();
    expect(await (await taken.start(folder)).stop()).toBe(0);
    expect(await deliverTo(await taken.start(folder), 1)).toBe(200);
  });
});

test("of ten servers that start at once, one serves", async () => {
  const folder = taken.newFolder();
  const starts = Array.from({ length: 10 }, () =>
    taken.start(folder).then(
      () => "serves",
      (error: Error) => /already serves|process \d+/.exec(error.message)?.[0],
    ),
  );
  const ends = await Promise.all(starts);
  expect(ends.filter((end) => end === "serves")).toEqual(["serves"]);
  expect(ends.filter((end) => end === undefined)).toEqual([]);
});

test("commands work beside a server, and do not keep one from starting", async () => {
  const folder = taken.newFolder();
  const server = await taken.start(folder);
  const { cwd, env } = server;
  const mint = () => runSkyhook(["token", "--email", "a@example.com"], { cwd, env });
  expect((await mint()).code).toBe(0);
  expect((await runSkyhook(["backup", "copy.db"], { cwd, env })).code).toBe(0);
  expect(await server.stop()).toBe(0);
  const [next, ...minted] = await Promise.all([taken.start(folder), mint(), mint(), mint()]);
  expect(minted.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(await deliverTo(next, 1)).toBe(200);
});
