/** `id_of('evt', position, tail)` in SQL: the id that is made of a position and a tail. */
const call = /id_of\('(?<prefix>\w+)', (?<position>[\w.]+), (?<tail>[\w.]+)\)/g;

/** Writes the calls of `id_of` in the SQL of SQLite. */
export const onSqlite = (sql: string) =>
  sql.replaceAll(
    call,
    "printf('$<prefix>_%012x7%03x800%013x', $<position> >> 10, ($<position> & 1023) << 2, $<tail>)",
  );

/** The same in that of PostgreSQL. */
export const onPostgres = (sql: string) =>
  sql.replaceAll(
    call,
    "('$<prefix>_' || lpad(to_hex($<position> >> 10), 12, '0') || '7' || lpad(to_hex(($<position> & 1023) << 2), 3, '0') || '800' || lpad(to_hex($<tail>), 13, '0'))",
  );
