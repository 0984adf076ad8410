import { describe, expect, test } from "bun:test";

import { schema as program } from "../../../src/schema/schema.ts";
import { startIn } from "../../support/load.ts";
import { isFull } from "../../support/runs.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases } from "./databases.ts";
import { MigrationTrial } from "./migration.ts";
import { deliver } from "./requests.ts";

const killedCode = 137;
/** A kill after one statement in so many is tried: others each time, and all by night. */
const stride = isFull ? 1 : 10;
const all = program.migrations.sqlite.length;

describe.each(databases())("the first start on $name", (kind) => {
  test("killed after any statement, is complete after the next start", async () => {
    const sound = await MigrationTrial.open(kind);
    const schema = await sound.schemaAfterStart();
    await sound.end();
    expect(schema.length).toBeGreaterThan(10);

    /** Returns the number of migrations that were done when it was killed; null: it was not. */
    async function doneAt(point: CrashPoint): Promise<number | null> {
      const trial = await MigrationTrial.open(kind);
      try {
        const code = await trial.migrateUntil(point);
        const done = code === killedCode ? await trial.done() : null;
        expect([point, await trial.schemaAfterStart()]).toEqual([point, schema]);
        if (done !== null) return done;
        expect(code).toBe(0);
        await expectService(trial);
        return null;
      } finally {
        await trial.end();
      }
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

async function expectService({ folder, database }: MigrationTrial): Promise<void> {
  const server = await startIn(folder, { DATABASE_URL: database.url });
  try {
    expect((await deliver(server, 1))?.status).toBe(200);
    expect(await server.stop()).toBe(0);
  } finally {
    await server.kill();
  }
}
