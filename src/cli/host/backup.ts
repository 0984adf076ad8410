import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";

import type { Command } from "commander";

import { type Config, readConfig } from "../../config/config.ts";
import { databaseFile } from "../../db/open.ts";
import { example } from "../kit/arguments.ts";
import { isInMemory } from "../kit/database.ts";
import { table, UsageError } from "../kit/output.ts";

import { keysBeside } from "./checks/keys.ts";
import { draftCopy } from "./draft-copy.ts";

interface BackupOptions {
  readonly force?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("backup")
    .description("copy the database to a file; the server may keep running")
    .argument("<file>", "destination file; must not exist")
    .option("--force", "replace the destination file if it exists")
    .addHelpText("after", example("skyhook backup /backups/skyhook-$(date +%F).db"))
    .action((file: string, options: BackupOptions) => backup(file, options, env));
}

/**
 * `skyhook backup`: copies the database while the server keeps running. The copy contains every transaction
 * that was acknowledged before the start, and no transaction in part.
 */
export async function backup(
  file: string,
  { force }: BackupOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  const database = requireDatabase(config);
  const to = resolve(file);
  requireOther(to, database);
  const requireFree = () => {
    if (existsSync(to) && force === undefined) {
      throw new Error(`${file} already exists: name another file, or replace it with --force`);
    }
  };
  requireFree();
  const draft = await draftCopy(database, to);
  try {
    requireFree();
    draft.publish();
  } finally {
    draft.discard();
  }
  console.log(`${draft.size} backed up to ${file} and checked`);
  console.log(
    "A restore also needs these secrets, which are not in the backup. Store them separately and safely:",
  );
  console.log(table(keysBeside(config, env).map(({ place, use }) => [`  ${place}`, use])));
}

export function requireDatabase(config: Config): string {
  const database = databaseFile(config.databaseUrl);
  if (isInMemory(config))
    throw new Error("The database is in memory and cannot be copied: set DATABASE_URL");
  if (database === null) {
    throw new Error("The database is a PostgreSQL server: back it up with pg_dump");
  }
  if (existsSync(database)) return database;
  throw new Error(`The database ${database} does not exist: check DATA_DIR and DATABASE_URL`);
}

/** Rejects the database itself and its log as the destination: they would be overwritten. */
function requireOther(to: string, database: string): void {
  if (!existsSync(to)) return;
  const found = statSync(to);
  if (found.isDirectory()) throw new UsageError(`${to} is a folder: name a file in it`);
  const own = ["", "-wal", "-shm"]
    .map((end) => `${database}${end}`)
    .filter((one) => existsSync(one));
  if (own.some((one) => statSync(one).ino === found.ino && statSync(one).dev === found.dev)) {
    throw new UsageError(`${to} is the database itself: name another file`);
  }
}
