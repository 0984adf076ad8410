import { programName } from "../base/program-name.ts";
import { version } from "../base/version.ts";

import { defineTable, type Definition } from "./table.ts";

/** A change to the database schema, applied once. */
export interface Migration {
  /** Begins with the version that brings it, such as `0.2.0 meals`, which older programs then name. */
  readonly name: string;
  readonly sql: string;
}

/** The program's tables, and the migrations that create them in each database. */
export interface Schema {
  readonly tables: readonly Definition[];
  /** In the order in which they are applied. */
  readonly migrations: {
    readonly sqlite: readonly Migration[];
    readonly postgres: readonly Migration[];
  };
}

/** Records the migrations that were applied to a database. */
export const migrationsTable = defineTable("migrations", { name: "text" });

/**
 * Recorded as a migration while a copy into the database is unfinished. Every start reads the migrations
 * anyway, and older programs do not open a database with an unknown migration.
 */
export const unfinishedCopy = "copy_not_finished";

/** Thrown for a database that must not be used in its current state. The message says why and what to do. */
export class UnfitDatabase extends Error {
  override readonly name = "UnfitDatabase";
}

/**
 * Returns the pending migrations. All are in order. Throws an `UnfitDatabase` when the database has a migration
 * that this program does not know, or when a copy into it is unfinished and `isForCopy` is false.
 */
export function dueMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
  isForCopy: boolean,
): readonly Migration[] {
  const names = applied.filter((name) => name !== unfinishedCopy);
  const unknown = names.findLast((name) => !migrations.some((known) => known.name === name));
  if (unknown !== undefined && !names.includes(migrations[0]?.name ?? "")) {
    throw new UnfitDatabase(
      "The database was made before version 0.1.0, and only the program that made it reads it: copy it with that program (skyhook copy), and set DATABASE_URL or DATA_DIR of this one to a new database",
    );
  }
  if (unknown !== undefined) {
    throw new UnfitDatabase(
      `The database is newer than this program (${version}): skyhook ${unknown.replace(/ .*/, "")} migrated it. Start that version or a later one, or restore the backup from before that upgrade`,
    );
  }
  if (names.length < applied.length && !isForCopy) {
    throw new UnfitDatabase(
      `A copy into this database was not finished: run \`${programName} copy\` again, or empty it`,
    );
  }
  return migrations.slice(names.length);
}
