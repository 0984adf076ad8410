import { and, eq, sql } from "drizzle-orm";

import { pagesOver } from "../db/keyset.ts";
import { allColumns, encoded, shownColumns, statementsOver } from "../db/statement.ts";
import type { TablesOf } from "../db/table.ts";

import {
  type Replay,
  type ReplayCounts,
  type ReplayFailure,
  replayFailureSchema,
  replayFailuresTable,
  replaySchema,
  replaysTable,
  type StoredReplay,
  type StoredReplayFailure,
} from "./replay.ts";

const tables = { replays: replaysTable, failures: replayFailuresTable };
const statement = statementsOver(tables);

function replayColumns({ replays }: TablesOf<typeof tables>) {
  return shownColumns(replays, replaySchema.properties);
}

/** Changes no row while another replay is running. */
export const insertReplay = statement<StoredReplay>()((db, { replays }) =>
  db.insert(replays).values(allColumns(replays)).onConflictDoNothing(),
);

export const replayById = statement<{ id: string }>()((db, t, p) =>
  db
    .select(replayColumns(t))
    .from(t.replays)
    .where(sql`${t.replays.id} = ${p.id}`)
    .limit(1),
);

export const replayPages = pagesOver(tables)<Replay, never>({
  table: (t) => t.replays,
  select: (db, t) => db.select(replayColumns(t)).from(t.replays),
});

export const replayFailurePages = pagesOver(tables)<ReplayFailure, "replayId">({
  table: (t) => t.failures,
  select: (db, { failures }) =>
    db.select(shownColumns(failures, replayFailureSchema.properties)).from(failures),
  indexed: ["replayId"],
});

export const insertReplayFailure = statement<StoredReplayFailure>()((db, { failures }) =>
  db.insert(failures).values(allColumns(failures)),
);

/** Deletes at most `limit` failures, up to a time, of replays that started before it. */
export const deleteReplayFailures = statement<{ until: Date; limit: number }>()((
  db,
  { failures, replays },
  p,
) => {
  const key = sql`${failures.replayId}, ${failures.id}`;
  const old = sql`select ${replays.id} from ${replays} where ${replays.createdAt} <= ${encoded(p.until, replays.createdAt)}`;
  return db
    .delete(failures)
    .where(
      sql`(${key}) in (select ${key} from ${failures} where ${failures.replayId} in (${old}) and ${failures.createdAt} <= ${encoded(p.until, failures.createdAt)} limit ${p.limit})`,
    );
});

/** The running replay, if there is one. */
export const runningReplay = statement()((db, { replays }) =>
  db
    .select()
    .from(replays)
    .where(sql`${replays.status} = 'running'`)
    .limit(1),
);

interface Held {
  readonly id: Replay["id"];
  readonly leasedBy: string;
}

/** Changes no row while another process has it. A lease that ends after `latest` is from before a clock change. */
export const claimReplay = statement<
  Held & { readonly leasedUntil: Date; readonly now: Date; readonly latest: Date }
>()((db, { replays: t }, p) => {
  const [now, latest] = [encoded(p.now, t.leasedUntil), encoded(p.latest, t.leasedUntil)];
  return db
    .update(t)
    .set({ leasedBy: p.leasedBy, leasedUntil: p.leasedUntil })
    .where(
      and(
        eq(t.id, p.id),
        sql`${t.status} = 'running'`,
        sql`(${t.leasedUntil} is null or ${t.leasedUntil} <= ${now} or ${t.leasedUntil} > ${latest})`,
      ),
    );
});

export interface Progress extends Held, ReplayCounts {
  readonly positionAt: Date;
  readonly positionId: NonNullable<StoredReplay["positionId"]>;
  readonly leasedUntil: Date;
  readonly updatedAt: Date;
  readonly lastError: string | null;
}

/** Counts an event, in the transaction of its replay. Changes no row if the replay was stopped or taken over. */
export const advanceReplay = statement<Progress>()((db, { replays: t }, p) =>
  db
    .update(t)
    .set({
      resent: sql`${t.resent} + ${encoded(p.resent, t.resent)}`,
      notified: sql`${t.notified} + ${encoded(p.notified, t.notified)}`,
      silent: sql`${t.silent} + ${encoded(p.silent, t.silent)}`,
      deleted: sql`${t.deleted} + ${encoded(p.deleted, t.deleted)}`,
      failed: sql`${t.failed} + ${encoded(p.failed, t.failed)}`,
      changed: sql`${t.changed} + ${encoded(p.changed, t.changed)}`,
      positionAt: p.positionAt,
      positionId: p.positionId,
      leasedUntil: p.leasedUntil,
      updatedAt: p.updatedAt,
      lastError: sql`coalesce(${encoded(p.lastError, t.lastError)}, ${t.lastError})`,
    })
    .where(and(eq(t.id, p.id), eq(t.leasedBy, p.leasedBy), sql`${t.status} = 'running'`)),
);

export const finishReplay = statement<Held & { readonly updatedAt: Date }>()(
  (db, { replays: t }, p) =>
    db
      .update(t)
      .set({
        status: sql`'finished'`,
        leasedBy: sql`null`,
        leasedUntil: sql`null`,
        updatedAt: p.updatedAt,
      })
      .where(and(eq(t.id, p.id), eq(t.leasedBy, p.leasedBy), sql`${t.status} = 'running'`)),
);

export const releaseReplay = statement<Held>()((db, { replays: t }, p) =>
  db
    .update(t)
    .set({ leasedBy: sql`null`, leasedUntil: sql`null` })
    .where(and(eq(t.id, p.id), eq(t.leasedBy, p.leasedBy))),
);

/** A single process has no other: leases are those of an earlier run of the program. */
export const releaseReplays = statement()((db, { replays: t }) =>
  db
    .update(t)
    .set({ leasedBy: sql`null`, leasedUntil: sql`null` })
    .where(sql`${t.status} = 'running'`),
);

export const stopReplay = statement<{ id: Replay["id"]; updatedAt: Date }>()(
  (db, { replays: t }, p) =>
    db
      .update(t)
      .set({
        status: sql`'stopped'`,
        leasedBy: sql`null`,
        leasedUntil: sql`null`,
        updatedAt: p.updatedAt,
      })
      .where(and(eq(t.id, p.id), sql`${t.status} = 'running'`)),
);

/** Changes no row unless it is stopped and no other is running. */
export const resumeReplay = statement<{ id: Replay["id"]; updatedAt: Date }>()(
  (db, { replays: t }, p) =>
    db
      .update(t)
      .set({ status: sql`'running'`, updatedAt: p.updatedAt })
      .where(
        and(
          eq(t.id, p.id),
          sql`${t.status} = 'stopped'`,
          sql`not exists (select 1 from replays running where running.status = 'running')`,
        ),
      ),
);
