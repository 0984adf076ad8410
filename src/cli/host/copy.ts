import { existsSync } from "node:fs";

import type { Command } from "commander";

import { type Config, readConfig } from "../../config/config.ts";
import { databaseFile, holdStill, openCopyTarget } from "../../db/open.ts";
import { inspectServer, isServed } from "../../db/postgres/inspect.ts";
import { UnfitDatabase } from "../../db/schema.ts";
import { foldLog } from "../../db/sqlite/backup.ts";
import { isLocked } from "../../db/sqlite/errors.ts";
import { pendingMigrations } from "../../db/sqlite/inspect.ts";
import type { Hold, Storage } from "../../db/storage.ts";
import { withoutPassword } from "../../db/without-password.ts";
import { schema } from "../../schema/schema.ts";
import { example } from "../kit/arguments.ts";
import { isInMemory, openDatabase, withAdvice, withDatabase } from "../kit/database.ts";
import { table, UsageError } from "../kit/output.ts";
import { progress } from "../kit/progress.ts";

import { beginCopy, type CopiedTable, copyTables, endCopy } from "./copy-tables.ts";

interface CopyOptions {
  readonly from: string;
  readonly to: string;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("copy")
    .description("copy a database to an empty one and compare them; stop the servers first")
    .requiredOption("--from <url>", "source, for example sqlite:./data/skyhook.db")
    .requiredOption(
      "--to <url>",
      "destination, for example postgres://user:password@host:5432/database",
    )
    .addHelpText(
      "after",
      example(
        "skyhook copy --from sqlite:./data/skyhook.db --to postgres://skyhook@localhost/skyhook",
      ),
    )
    .action((options: CopyOptions) => copy(options, env));
}

/**
 * `skyhook copy`: copies one database to another, of any kind. Run again after an interruption, it continues.
 * Ids, sequence numbers, times and keys are unchanged, so that cursors and idempotency keys stay valid.
 */
export async function copy({ from, to }: CopyOptions, env: NodeJS.ProcessEnv): Promise<void> {
  if (from === to) throw new UsageError("--from and --to name the same database");
  const source = readConfig({ ...env, DATABASE_URL: from });
  const target = readConfig({ ...env, DATABASE_URL: to });
  if (isInMemory(target))
    throw new UsageError("--to is in memory, so the copy would be lost: name a file or a server");
  await withDatabase(source, () => requireSource(source));
  for (const config of [source, target]) await requireUnused(config);
  const copied = await copyMarked(source, target);
  const rows = copied.map(({ name, rows, sha256 }) => [name, String(rows), sha256]);
  console.log(table([["TABLE", "ROWS", "SHA-256, EQUAL IN BOTH"], ...rows]));
  console.log(
    "\nGive the new instances the same JWT_SECRET and PERSONAL_DATA_KEY, or the files jwt_secret and personal_data_key of DATA_DIR.",
  );
}

/** Copies while the target is marked as an unfinished copy, so that nothing else opens it. */
async function copyMarked(source: Config, target: Config): Promise<readonly CopiedTable[]> {
  await using ends = new AsyncDisposableStack();
  const from = await named(source, () => openDatabase(source));
  ends.defer(() => from.close());
  const to = await named(target, () =>
    withDatabase(target, () => openCopyTarget(schema, target.databaseUrl, target.databaseLimits)),
  );
  ends.defer(() => to.close());
  await beginCopy(to, nameOf(target));
  // A row written after its page was compared would be missing from the copy.
  const hold = await named(source, () =>
    withDatabase(source, () => holdStill(schema, source.databaseUrl, source.databaseLimits)),
  );
  ends.defer(() => hold.release());
  const copied = await copyShown(from, to);
  await requireHeld(source, hold);
  if (databaseFile(source.databaseUrl) !== null) {
    // Detects a server that was started meanwhile and waits to write: only a closed file shows it.
    await hold.release();
    await from.close();
  }
  await requireUnused(source);
  // The mark keeps others from opening a file.
  if (databaseFile(target.databaseUrl) === null) await requireUnused(target);
  await endCopy(to);
  return copied;
}

async function requireHeld(source: Config, hold: Hold): Promise<void> {
  try {
    await hold.requireHeld();
  } catch (error) {
    throw new Error(
      `${nameOf(source)} was not locked all the time during the copy: stop the servers, and copy again`,
      { cause: error },
    );
  }
}

/** Adds the name of the database to an error, because two are involved. */
async function named<Opened>(config: Config, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof UnfitDatabase)) throw error;
    throw new Error(`${nameOf(config)}: ${error.message}`, { cause: error });
  }
}

async function copyShown(from: Storage, to: Storage): Promise<readonly CopiedTable[]> {
  const bar = progress("", null);
  try {
    return await copyTables(from, to, (what, rows) =>
      bar.at(rows, `${what}: ${rows.toLocaleString("en")} rows`, [rows, "rows"]),
    );
  } finally {
    bar.end();
  }
}

/** Throws if a program has the file open, or an instance uses the server. */
async function requireUnused(config: Config): Promise<void> {
  const { databaseUrl, databaseLimits } = config;
  const file = databaseFile(databaseUrl);
  if (
    await (file === null ? isServed(schema, databaseUrl, databaseLimits) : isOpened(file, config))
  ) {
    throw new Error(`${nameOf(config)} is in use: stop the servers, then copy`);
  }
}

function isOpened(file: string, config: Config): boolean {
  if (!existsSync(file)) return false;
  try {
    foldLog(file);
    return false;
  } catch (error) {
    if (isLocked(error)) return true;
    throw withAdvice(error, config);
  }
}

function nameOf({ databaseUrl }: Config): string {
  return databaseFile(databaseUrl) ?? withoutPassword(databaseUrl);
}

/** Opening a database would create or migrate it, but the source must not change. */
async function requireSource(config: Config): Promise<void> {
  if (isInMemory(config))
    throw new UsageError(
      "--from is in memory, so there is nothing to copy: name a file or a server",
    );
  const file = databaseFile(config.databaseUrl);
  const name = nameOf(config);
  if (file !== null && !existsSync(file)) {
    throw new Error(`The database ${file} does not exist: check --from`);
  }
  const pending =
    file === null
      ? (await inspectServer(schema, config.databaseUrl, config.databaseLimits)).pending
      : pendingMigrations(schema, file);
  if (pending.length === 0) return;
  throw new Error(
    `${name} needs the migrations ${pending.join(", ")}: check --from, or start this skyhook with it once to apply them`,
  );
}
