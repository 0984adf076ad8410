import { describe, expect, test } from "bun:test";

import { startIn } from "../../support/load.ts";
import { isFull } from "../../support/runs.ts";

import type { CrashPoint } from "./crash-point.ts";
import { databases, type OlderRelease } from "./databases.ts";
import { MigrationTrial } from "./migration.ts";
import { deliver } from "./requests.ts";

const killedCode = 137;
/** A kill after one statement in so many is tried: others each time, and all by night. */
const stride = isFull ? 1 : 10;

const oldRows = `
  insert into events (id, provider, type, status, idempotency_key, occurred_at, created_at, title,
    data, body_bytes, duplicates)
  values ('evt_1', 'task_tracker', 'task.completed', 'accepted', 'task_tracker:old', 0, 0, 'Old',
    '{}', 0, 0);
  insert into notifications (id, event_id, created_at, title, text, severity, status, attempt_count)
  values ('ntf_1', 'evt_1', 0, 'Old', '', 'info', 'pending', 0);
  insert into deliveries (id, destination_id, notification_id, event_id, created_at, status, attempt_count)
  values ('dlv_1', 'dst_00000000000000000000000000000000', 'ntf_1', 'evt_1', 0, 'pending', 0)`;

describe.each(databases())("a migration on $name", (kind) => {
  const all = kind.migrations.length;
  const starts: readonly (readonly [string, OlderRelease | undefined])[] = [
    ["of nothing", undefined],
    ["of the previous release", { migrations: all - 1, sql: oldRows }],
  ];

  test.each(starts)(
    "%s, killed after any statement, is complete after the next start",
    async (_, release) => {
      const sound = await MigrationTrial.open(kind);
      const schema = await sound.schemaAfterStart();
      await sound.end();
      expect(schema.length).toBeGreaterThan(10);

      /** Returns the number of migrations that were done when it was killed; null: it was not. */
      async function doneAt(point: CrashPoint): Promise<number | null> {
        const trial = await MigrationTrial.open(kind, release);
        try {
          const code = await trial.migrateUntil(point);
          const done = code === killedCode ? await trial.done() : null;
          expect([point, await trial.schemaAfterStart()]).toEqual([point, schema]);
          const old = await trial.rows("select id, status from notifications");
          expect(old).toEqual(release === undefined ? [] : [{ id: "ntf_1", status: "pending" }]);
          if (done !== null) return done;
          expect(code).toBe(0);
          await expectService(trial);
          return null;
        } finally {
          await trial.end();
        }
      }
      const before = release?.migrations ?? 0;
      for (let nth = Math.ceil(Math.random() * stride); ; nth += stride) {
        const done = await doneAt({ moment: "after statement", sql: "", nth });
        if (done === null) break;
        expect([nth, [before, all].includes(done)]).toEqual([nth, true]);
      }
      expect(await doneAt({ moment: "before commit", sql: "" })).toBe(before);
      expect(await doneAt({ moment: "after commit", sql: "" })).toBe(all);
    },
    // By night, two starts for each migration.
    300_000,
  );
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
