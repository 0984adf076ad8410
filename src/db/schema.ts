import { type Definition, defineTable } from "./table.ts";

/** A change of the database's schema, run once. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** The tables of the program, and the migrations that create them in each database. */
export interface Schema {
  readonly tables: readonly Definition[];
  /** In order. */
  readonly migrations: {
    readonly sqlite: readonly Migration[];
    readonly postgres: readonly Migration[];
  };
}

/** The migrations that a database has. */
export const migrationsTable = defineTable<Pick<Migration, "name">>("migrations", { name: "text" });

/**
 * Recorded as a migration while a copy into the database is unfinished. Every start reads the migrations
 * anyway, and older programs refuse a database with a migration they do not know.
 */
export const unfinishedCopy = "copy_not_finished";

/** A database that must not be used as it is. The message says why and what to do, on one line. */
export class UnfitDatabase extends Error {
  override readonly name = "UnfitDatabase";
}

/**
 * The migrations that are still to be applied, in order. Throws an `UnfitDatabase` when the database has
 * one that this program does not know, or when a copy into it is unfinished, unless opened `isForCopy`.
 */
export function dueMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
  isForCopy: boolean,
): readonly Migration[] {
  const names = applied.filter((name) => name !== unfinishedCopy);
  const unknown = names.find((name) => !migrations.some((known) => known.name === name));
  if (unknown !== undefined) {
    throw new UnfitDatabase(
      `The database is newer than this program (it has "${unknown}"): run the newer skyhook, or restore a backup`,
    );
  }
  if (names.length < applied.length && !isForCopy) {
    throw new UnfitDatabase(
      "A copy into this database was not finished: run `skyhook copy` again, or empty it",
    );
  }
  return migrations.slice(names.length);
}
