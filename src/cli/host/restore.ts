import { existsSync, linkSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

import type { Command } from "commander";

import { makePrivateFolder, syncNames } from "../../base/private-file.ts";
import { sealingKey } from "../../base/sealing.ts";
import { sealedByEachKey } from "../../booking/personal-data/personal-data.sql.ts";
import { personalDataOpener } from "../../booking/personal-data/personal-data.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { secretStore } from "../../config/secrets.ts";
import { databaseFile } from "../../db/open.ts";
import { foldLog } from "../../db/sqlite/backup.ts";
import { isLocked } from "../../db/sqlite/errors.ts";
import { damageOf, pendingMigrations, rowsIn } from "../../db/sqlite/inspect.ts";
import { schema } from "../../schema/schema.ts";
import { example } from "../kit/arguments.ts";
import { isInMemory } from "../kit/database.ts";
import { messageOf } from "../kit/errors.ts";
import { note } from "../kit/output.ts";

import { draftCopy } from "./draft-copy.ts";

interface RestoreOptions {
  readonly force?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("restore")
    .description("replace the database with a backup; stop the server first")
    .argument("<file>", "a file made by `skyhook backup`; it is not changed")
    .option("--force", "replace an existing database; it is kept under another name")
    .addHelpText("after", example("skyhook restore /backups/skyhook-2026-11-21.db"))
    .action((file: string, options: RestoreOptions) => restore(file, options, env));
}

/**
 * `skyhook restore`: replaces the database with a backup. The backup is checked first; the former database
 * is kept under another name.
 */
export async function restore(
  file: string,
  { force }: RestoreOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  // Creates none. Invalid keys are reported before any file is changed.
  const keys = secretStore(env, config.secretsDir).personalDataKeysThere(config.dataDir);
  const database = requirePlace(config);
  if (!existsSync(file)) throw new Error(`The file ${file} does not exist`);
  if (existsSync(database)) {
    if (realpathSync(file) === database) throw new Error(`${file} is the database itself`);
    if (force === undefined) {
      throw new Error(
        `The database ${database} already exists: --force replaces it and keeps it under another name`,
      );
    }
    requireUnused(database);
  }
  const draft = await draftCopy(file, database);
  let aside: string | null;
  try {
    requireKnown(draft.file, file);
    aside = setAside(database);
    draft.publish();
  } finally {
    draft.discard();
  }
  const lost = lostKeys(database, keys);
  const next = lost.length === 0 ? "start skyhook now" : "do not start skyhook yet";
  console.log(`${draft.size} restored to ${database} and checked; ${next}`);
  if (aside !== null)
    console.log(`The former database is ${aside}: delete it when you no longer need it`);
  if (pendingMigrations(schema, database).length > 0) {
    console.log("It has an older schema: the next start migrates it");
  }
  if (lost.length === 0) return;
  note(
    `Birth dates and passports in it cannot be decrypted with the present keys. Before the start, restore the personal_data_key that was stored with this backup (${lost.join(", ")})`,
  );
}

/** The path of the database, with symbolic links resolved. Creates its folder if it is missing. */
function requirePlace(config: Config): string {
  const database = databaseFile(config.databaseUrl);
  if (isInMemory(config)) throw new Error("DATABASE_URL is in memory: set it to a file");
  if (database === null) {
    throw new Error("DATABASE_URL names a PostgreSQL server: restore it with pg_restore, or psql");
  }
  makePrivateFolder(dirname(database));
  return existsSync(database) ? realpathSync(database) : database;
}

function requireKnown(draft: string, file: string): void {
  try {
    pendingMigrations(schema, draft);
  } catch (error) {
    throw new Error(`${file} is not restored: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Keeps the database under a second name, which is returned, and removes its log: the log of one database
 * would corrupt another. Returns null if there was no database.
 */
function setAside(database: string): string | null {
  const isThere = existsSync(database);
  const aside = `${database}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  if (isThere) {
    requireUnused(database);
    linkOrRename(database, aside);
  }
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(`${database}${end}`, { force: true });
  // The new database may take the name only after the former one has another, and no log.
  syncNames(dirname(database));
  return isThere ? aside : null;
}

/** Throws if a program has the database open. Checkpoints the log, so that one file contains everything. */
function requireUnused(database: string): void {
  try {
    foldLog(database);
  } catch (error) {
    if (isLocked(error)) {
      throw new Error(`${database} is in use: stop the server, then restore`, { cause: error });
    }
    // A damaged database may fail to checkpoint; it is set aside unchanged.
    if (damageOf(database) === null) throw error;
  }
}

/** With a link, the name always refers to a file. Without links, it is missing for a moment. */
function linkOrRename(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    renameSync(from, to);
  }
}

/** The ids of keys that the restored database needs and that are not in `keys`. */
function lostKeys(database: string, keys: readonly Uint8Array[]): readonly string[] {
  const opener = personalDataOpener(keys);
  const lost = rowsIn(database, sealedByEachKey, {}).flatMap((sample) => {
    try {
      opener.open(sample);
      return [];
    } catch {
      return [`key ${sealingKey(sample.sealed)}`];
    }
  });
  return [...new Set(lost)];
}
