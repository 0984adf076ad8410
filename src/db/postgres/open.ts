import { rowsOf } from "../compiler.ts";
import type { Schema } from "../schema.ts";
import type { ServerLimits, Storage, StorageObserver } from "../storage.ts";

import { checkServer, type ServerFound, silenceOf } from "./check-server.ts";
import { compilerOf } from "./compile.ts";
import { connect } from "./connect.ts";
import { unavailable } from "./errors.ts";
import { groupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { renewedPool, sharedPool } from "./renewed-pool.ts";
import { retryTransient } from "./retry.ts";
import { signals } from "./signals.ts";
import { startError } from "./start-error.ts";

/** Of ten connections, this many write; reads have the others. None is lent: slow reads hold up no write. */
const writersOfTen = 4;

/**
 * Opens the database at `url` (`postgres://user:password@host:port/database`, with what the driver takes
 * as parameters, as `sslmode`). Throws an `Error` that says in one line what to do when it cannot be used.
 */
export async function openPostgres(
  schema: Schema,
  url: string,
  limits: ServerLimits,
  observer: StorageObserver,
  isForCopy: boolean,
): Promise<Storage> {
  const writers = Math.max(1, Math.floor((limits.poolSize * writersOfTen) / 10));
  const writing = connect(url, { ...limits, poolSize: writers });
  let found: ServerFound;
  try {
    found = await checkServer(writing, schema, { ...limits, poolSize: writers });
    const migrated = await migrate(writing, schema, isForCopy);
    if (migrated.length > 0) observer.migrated(migrated);
    for (const warning of found.warnings) observer.warning(warning);
  } catch (error) {
    await writing.close({ timeout: 0 });
    throw startError(error, url);
  }
  const silenceMs = silenceOf(limits);
  const readers = limits.poolSize - writers;
  const reading =
    readers > 0
      ? renewedPool(() => connect(url, { ...limits, poolSize: readers }), silenceMs)
      : sharedPool(writing, silenceMs);
  const compile = compilerOf(writing);
  const commits = groupCommit(writing, compile, observer, {
    transactions: writers,
    retryMs: limits.retryMs,
    silenceMs,
  });
  const sender = signals(writing, reading, found.schema);
  let closed = false;
  return {
    dialect: "postgres",
    async all(statement, values) {
      const run = compile(statement);
      try {
        const { rows } = await retryTransient(closed ? 0 : limits.retryMs, () =>
          reading.ask((pool) => run(pool, values)),
        );
        return rowsOf(statement, rows);
      } catch (error) {
        throw unavailable(error);
      }
    },
    atomically: commits.atomically,
    async settled() {
      // Commits become durable in order, and an empty transaction commits too.
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
