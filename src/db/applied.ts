/** A step of the schema. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/**
 * Stands among the applied steps while a copy into the database was begun and is not finished. It is
 * found where the steps are read anyway, and programs from before it take it for a step that they do
 * not know, and refuse it too.
 */
export const unfinishedCopy = "copy_not_finished";

/** A database that must not be used as it is. The message says so in one line, and what to do. */
export class UnfitDatabase extends Error {
  override readonly name = "UnfitDatabase";
}

/**
 * The steps that are still to be applied, in order. Throws an `UnfitDatabase` when there are some that
 * this program does not know, or when a copy was not finished and it is not a copy that asks.
 */
export function dueMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
  isForCopy: boolean,
): readonly Migration[] {
  const steps = applied.filter((name) => name !== unfinishedCopy);
  const unknown = steps.find((name) => !migrations.some((known) => known.name === name));
  if (unknown !== undefined) {
    throw new UnfitDatabase(
      `The database is newer than this program (it has "${unknown}"): run the newer skyhook, or restore a backup`,
    );
  }
  if (steps.length < applied.length && !isForCopy) {
    throw new UnfitDatabase(
      "A copy into this database was not finished: run `skyhook copy` again, or empty it",
    );
  }
  return migrations.slice(steps.length);
}
