import type { ReservedSQL } from "bun";

import { lacksRight, sqlStateOf, statementTimeout } from "./errors.ts";

/** Thrown when the server lacks an ability of PostgreSQL. The message says which one, and what depends on it. */
export class MissingAbility extends Error {}

/**
 * SQLSTATEs of a server that does not know a statement (42: syntax and names; 0A: not supported), or that waits for a
 * lock where PostgreSQL does not.
 */
const cannot = ["42", "0A", statementTimeout];

async function requireAbility(missing: string, trial: () => Promise<boolean>): Promise<void> {
  const works = await trial().catch((error: unknown) => {
    const state = sqlStateOf(error) ?? "";
    // Other checks report missing privileges.
    if (state === lacksRight) return true;
    if (!cannot.some((code) => state.startsWith(code))) throw error;
    throw new MissingAbility(missing, { cause: error });
  });
  if (!works) throw new MissingAbility(missing);
}

/**
 * Throws when two sessions can hold the same exclusive advisory lock, or when pg_locks does not show how advisory
 * locks are named. With one session, only the second is checked.
 */
export async function requireLocks(one: ReservedSQL, other: ReservedSQL | null): Promise<void> {
  // Random, so that instances that start at the same time do not meet. Half of the range has no sign.
  const [first, second] = crypto.getRandomValues(new Uint32Array(2)).map((key) => key >>> 1);
  const keys = `${first}, ${second}`;
  await one.unsafe("begin");
  try {
    await requireAbility(
      "advisory locks that exclude other sessions, which keep events in order and instances from migrating at the same time",
      async () => {
        await one.unsafe(`select pg_advisory_xact_lock(${keys})`);
        const granted: unknown[] = await (other?.unsafe(
          `select where pg_try_advisory_xact_lock(${keys}) or pg_try_advisory_xact_lock_shared(${keys})`,
        ) ?? []);
        return granted.length === 0;
      },
    );
    await requireAbility(
      "advisory locks in pg_locks, from which readers know which events may still be missing",
      async () => {
        const shown: unknown[] = await one.unsafe(
          `select from pg_locks where locktype = 'advisory' and objsubid = 2 and classid = ${first} and objid = ${second}
            and database = (select oid from pg_database where datname = current_database())`,
        );
        return shown.length === 1;
      },
    );
  } finally {
    await one.unsafe("rollback").catch(() => {});
  }
}

/** Throws when SKIP LOCKED does not skip a row that another session has locked. Needs the table `migrations`. */
export async function requireSkippedRows(one: ReservedSQL, other: ReservedSQL): Promise<void> {
  await one.unsafe("begin");
  try {
    await requireAbility(
      "rows that are skipped with FOR UPDATE SKIP LOCKED, without which instances send a notification twice",
      async () => {
        const rows = "select name from migrations";
        // None when another instance tries this at the same time.
        const [locked]: { name: string }[] = await one.unsafe(
          `${rows} limit 1 for update skip locked`,
        );
        if (locked === undefined) return true;
        const [same]: unknown[] = await other.unsafe(
          `${rows} where name = '${locked.name}' for update skip locked`,
        );
        return same === undefined;
      },
    );
  } finally {
    await one.unsafe("rollback").catch(() => {});
  }
}

/**
 * Throws when partitions cannot be attached and detached. The tables are temporary, since a role that serves may create
 * no others.
 */
export async function requirePartitions(one: ReservedSQL): Promise<void> {
  await requireAbility(
    "partitions that can be attached and detached, with which retention removes expired data",
    async () => {
      try {
        await one.unsafe(partitionsText).simple();
      } catch (error) {
        await one.unsafe("rollback").catch(() => {});
        throw error;
      }
      return true;
    },
  );
}

/** Takes one round trip. */
const partitionsText = `begin;
  create table pg_temp.skyhook_trial (id int) partition by range (id);
  create table pg_temp.skyhook_trial_part (id int);
  alter table pg_temp.skyhook_trial attach partition pg_temp.skyhook_trial_part for values from (0) to (1);
  alter table pg_temp.skyhook_trial detach partition pg_temp.skyhook_trial_part;
  rollback`;
