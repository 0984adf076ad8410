import { Database, SQLiteError } from "bun:sqlite";

import { rowsOf } from "../compiler.ts";
import { dueMigrations, type Schema, unfinishedCopy } from "../schema.ts";
import type { Statement } from "../statement.ts";

import { compile } from "./compile.ts";
import { closer } from "./connection.ts";

/**
 * Returns the migrations that a start would apply to the database in `file`; none when its schema is
 * current. Opens the file read-only. Throws when it is missing or not a database, and an `UnfitDatabase`.
 */
export function pendingMigrations({ migrations }: Schema, file: string): readonly string[] {
  using client = new Database(file, { readonly: true });
  const applied = appliedTo(client);
  return dueMigrations(migrations.sqlite, applied, true).map(({ name }) => name);
}

/** Returns why the file is not a complete Skyhook database, in a few words; null when it is one. */
export function strangenessOf(file: string): string | null {
  return errorOf(file, (client) => {
    const applied = appliedTo(client);
    if (applied.length === 0) return "it is not a Skyhook database";
    return applied.includes(unfinishedCopy) ? "a copy into it was not finished" : null;
  });
}

/** Returns what is damaged in the database in `file`, in a few words; null when intact. Reads the whole file. */
export function damageOf(file: string): string | null {
  return errorOf(file, (client) => {
    const [first] = client.query("pragma integrity_check(1)").values().flat();
    return first === "ok" ? null : String(first);
  });
}

function errorOf(file: string, look: (client: Database) => string | null): string | null {
  try {
    using client = new Database(file, { readonly: true });
    return look(client);
  } catch (error) {
    if (error instanceof SQLiteError) return error.message;
    throw error;
  }
}

/** Runs a statement on the database in `file`, read-only: an older schema is not migrated. */
export function rowsIn<Values extends object, Row>(
  file: string,
  statement: Statement<Values, Row>,
  values: NoInfer<Values>,
): Row[] {
  const client = new Database(file, { readonly: true });
  const close = closer(client);
  try {
    const { sql, bind, read } = compile(statement);
    if (read === null) return [];
    return rowsOf(
      statement,
      client
        .prepare(sql)
        .values(...bind(values))
        .map(read),
    );
  } finally {
    close();
  }
}

function appliedTo(client: Database): readonly string[] {
  const table = client.query("select 1 from sqlite_schema where name = 'migrations'").get();
  if (table === null) return [];
  const stored = client.query("select name from migrations order by rowid").values();
  return stored.flat().map(String);
}
