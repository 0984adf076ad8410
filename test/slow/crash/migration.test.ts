import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { schema as program } from "../../../src/schema/schema.ts";
import { startIn } from "../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { isFull } from "../../support/runs.ts";
import { deliver } from "../harness/clients.ts";
import { type CrashPoint, crashPointVariable, setCrashPoint } from "../harness/crash-point.ts";
import { type DatabaseKind, databases, type Left, type Row } from "../harness/databases.ts";
import { wrongWith } from "../harness/invariants.ts";

const killedCode = 137;
/** A kill after one statement in so many is tried: others each time, and all by night. */
const stride = isFull ? 1 : 10;
const all = program.migrations.sqlite.length;
const opener = join(import.meta.dir, "open-database.ts");

describe.each(databases())("the first start on $name", (kind) => {
  test("killed after any statement, is complete after the next start", async () => {
    const { schema, code } = await migrate(kind, null);
    expect([code, schema.length > 10]).toEqual([0, true]);

    /** Returns the number of migrations that were done when it was killed; null: it was not. */
    async function doneAt(point: CrashPoint): Promise<number | null> {
      const migrated = await migrate(kind, point);
      expect([point, migrated.schema]).toEqual([point, schema]);
      if (migrated.code !== killedCode) expect(migrated.code).toBe(0);
      return migrated.code === killedCode ? migrated.done : null;
    }
    for (let nth = Math.ceil(Math.random() * stride); ; nth += stride) {
      const done = await doneAt({ moment: "after statement", sql: "", nth });
      if (done === null) break;
      expect([nth, [0, all].includes(done)]).toEqual([nth, true]);
    }
    expect(await doneAt({ moment: "before commit", sql: "" })).toBe(0);
    expect(await doneAt({ moment: "after commit", sql: "" })).toBe(all);
  }, 300_000);
});

/** An empty database after a start that is killed at the crash point, if it gets there, and another start. */
interface Migrated {
  readonly code: number;
  /** The number of migrations that the first start committed. */
  readonly done: number;
  readonly schema: readonly Row[];
}

async function migrate(kind: DatabaseKind, point: CrashPoint | null): Promise<Migrated> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "data"));
  const database = await kind.make(folder);
  const crashPointFile = join(folder, "crash-point.json");
  const start = () =>
    Bun.spawn([process.execPath, "--preload", kind.preload, opener, database.url], {
      env: { [crashPointVariable]: crashPointFile },
      stdio: ["ignore", "ignore", "ignore"],
    }).exited;
  try {
    setCrashPoint(crashPointFile, point);
    const code = await start();
    const done = await database.left(migrationsIn);
    setCrashPoint(crashPointFile, null);
    expect(await start()).toBe(0);
    const schema = await database.left(async (left) => {
      expect(await wrongWith(left)).toEqual([]);
      return left.schema();
    });
    if (code !== killedCode) {
      const server = await startIn(folder, { DATABASE_URL: database.url });
      expect((await deliver(server, 1))?.status).toBe(200);
      expect(await server.stop()).toBe(0);
    }
    return { code, done, schema };
  } finally {
    await database.remove();
    removeFolder(folder);
  }
}

async function migrationsIn(left: Left): Promise<number> {
  expect(await left.damage()).toEqual([]);
  const hasTable = (await left.schema()).some(({ name }) => name === "migrations");
  return hasTable ? (await left.rows("select name from migrations")).length : 0;
}
