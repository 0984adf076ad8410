import { rowsOf } from "../compiler.ts";
import type { Schema } from "../schema.ts";
import type { ServerLimits, Storage, StorageObserver } from "../storage.ts";

import { answerTimeoutOf, checkMigrated, checkServer, type ServerFound } from "./check-server.ts";
import { compilerOf } from "./compile.ts";
import { connect } from "./connect.ts";
import { asUnavailable, readError } from "./errors.ts";
import { groupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { replaceablePool, sharedPool } from "./replaceable-pool.ts";
import { retryTransient } from "./retry.ts";
import { signals } from "./signals.ts";
import { startError } from "./start-error.ts";

/** Of ten connections, this many write and the others read, so that slow reads never delay writes. */
const writersOfTen = 4;

/**
 * Opens the database at `url` (`postgres://user:password@host:port/database`, with the driver's parameters,
 * for example `sslmode`). Throws an `Error` that says in one line what to do when it cannot be used.
 */
export async function openPostgres(
  schema: Schema,
  url: string,
  limits: ServerLimits,
  observer: StorageObserver,
  isForCopy: boolean,
): Promise<Storage> {
  const writers = Math.max(1, Math.floor((limits.poolSize * writersOfTen) / 10));
  const writingLimits = { ...limits, poolSize: writers };
  const writing = connect(url, writingLimits);
  let found: ServerFound;
  try {
    found = await checkServer(writing, schema, writingLimits);
    const migrated = await migrate(writing, schema, isForCopy);
    await checkMigrated(writing, writingLimits);
    if (migrated.length > 0) observer.migrated(migrated);
    for (const warning of found.warnings) observer.warning(warning);
  } catch (error) {
    await writing.close({ timeout: 0 });
    throw startError(error, url);
  }
  const answerTimeoutMs = answerTimeoutOf(limits);
  const readers = limits.poolSize - writers;
  const reading =
    readers > 0
      ? replaceablePool(() => connect(url, { ...limits, poolSize: readers }), answerTimeoutMs)
      : sharedPool(writing, answerTimeoutMs);
  const compile = compilerOf(writing);
  const commits = groupCommit(writing, compile, observer, {
    transactions: writers,
    retryMs: limits.retryMs,
    answerTimeoutMs,
  });
  const sender = signals(writing, reading, found.schema, observer);
  let closed = false;
  return {
    dialect: "postgres",
    async all(statement, values, pace) {
      const run = compile(statement);
      try {
        const { rows } = await retryTransient(closed ? 0 : limits.retryMs, () =>
          reading.run((pool) => run(pool, values)),
        );
        return rowsOf(statement, rows);
      } catch (error) {
        throw pace === "long" ? readError(error) : asUnavailable(error);
      }
    },
    atomically: commits.atomically,
    async settled() {
      // Commits become durable in order, so this empty one waits for all before it.
      await commits.atomically();
    },
    signals: sender,
    async close() {
      closed = true;
      await commits.close();
      await sender.close();
      await Promise.all([reading.close(), writing.close()]);
    },
  };
}
