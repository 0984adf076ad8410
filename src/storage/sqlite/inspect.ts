import { Database } from "bun:sqlite";

import { migrations } from "./migrate.ts";

/**
 * The steps that a start would apply to the database in `file`; none when its schema is current. Reads
 * only, so that looking changes nothing. Throws when the file is missing or no database.
 */
export function pendingMigrations(file: string): readonly string[] {
  const client = new Database(file, { readonly: true });
  try {
    const table = client.query("select 1 from sqlite_schema where name = 'migrations'").get();
    const applied = table === null ? [] : namesOf(client);
    return migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
  } finally {
    client.close();
  }
}

function namesOf(client: Database): readonly string[] {
  const rows = client.query<{ name: string }, []>("select name from migrations").all();
  return rows.map(({ name }) => name);
}
