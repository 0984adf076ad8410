import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

import type { Migration } from "../db/schema.ts";

/** The SQL files of a folder, in the order of their names. Runs as a macro, so that programs carry them. */
export function migrationsIn(dialect: "sqlite" | "postgres"): readonly Migration[] {
  const folder = join(import.meta.dir, dialect);
  return readdirSync(folder)
    .toSorted()
    .map((file) => ({
      name: basename(file, ".sql"),
      sql: readFileSync(join(folder, file), "utf8"),
    }));
}
