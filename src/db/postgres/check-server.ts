import type { ReservedSQL, SQL } from "bun";

import { migrationsTable, type Schema } from "../schema.ts";
import type { ServerLimits } from "../storage.ts";
import { columnsOf } from "../table.ts";

import { timeouts } from "./connect.ts";
import { answerWithin, sqlStateOf } from "./errors.ts";

/** The oldest server that is tested. */
const leastVersion = 15;
/** The server says so itself when a statement takes too long. Longer than that, nobody is there. */
const graceMs = 2_000;

/** How long an answer may take before the server is taken to be gone. */
export function silenceOf({
  statementTimeoutMs,
}: Pick<ServerLimits, "statementTimeoutMs">): number {
  return statementTimeoutMs + graceMs;
}

/** A server fit to be used. */
export interface ServerFound {
  /** The one that unqualified names mean. */
  readonly schema: string;
  /** What is worth a look, each with what to do, on one line. */
  readonly warnings: readonly string[];
}

/**
 * Throws when the server is too old, takes no writes, has no schema for us, would say that it has
 * committed what a crash can still undo, or is behind a pooler that lends sessions.
 */
export function checkServer(pool: SQL, schema: Schema, limits: ServerLimits): Promise<ServerFound> {
  // A pooler that is full lets us connect, and then wait without a word.
  return answerWithin(check(pool, schema, limits), limits.connectTimeoutMs + silenceOf(limits));
}

const settingsText = `select current_setting('server_version_num'), current_schema(),
  current_setting('synchronous_commit'), current_setting('fsync'),
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'`;

async function check(pool: SQL, schema: Schema, limits: ServerLimits): Promise<ServerFound> {
  const [row]: [string, string | null, string, string, boolean][] = await pool
    .unsafe(settingsText)
    .values();
  if (row === undefined) throw new Error("it does not answer as PostgreSQL does");
  const [number, current, synchronousCommit, fsync, isReadOnly] = row;
  const version = Math.floor(Number(number) / 10_000);
  if (version < leastVersion) {
    throw new Error(`it is PostgreSQL ${version}: take ${leastVersion} or newer`);
  }
  if (isReadOnly) throw new ReadOnlyServer();
  if (synchronousCommit === "off") {
    throw new Error(
      "its synchronous_commit is off, so a crash would lose what was acknowledged: turn it on for this database",
    );
  }
  if (current === null) throw new Error("search_path names no schema that is there: make it first");
  if (limits.poolSize > 1) await requireOwnSessions(pool);
  const warnings = [
    ...(await timeoutWarnings(pool, limits)),
    ...(await missingRights(pool, schema)),
  ];
  if (fsync === "off") {
    warnings.push(
      "fsync of the PostgreSQL server is off, so a power failure can lose what was acknowledged: turn it on",
    );
  }
  return { schema: current, warnings };
}

/** It takes no writes, and says so before any is tried. */
export class ReadOnlyServer extends Error {}

/** A session is lent for a transaction, or a statement, at a time. */
export class LentSession extends Error {}

/** What is tried again, since others who use the pooler may come between. */
const rounds = 3;
/** A prepared statement is there already, or not any more: that of another session. */
const foreignStatement = ["42P05", "26000"];

/**
 * Two connections to a server have a session each, for as long as they last. To prove the contrary it is
 * enough to see one session twice, or one connection in two.
 */
async function requireOwnSessions(pool: SQL): Promise<void> {
  const one = await pool.reserve();
  // On a server that is full there may be no second one; what is there still serves.
  const other = await pool.reserve().catch(() => null);
  if (other === null) return void one.release();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const [first, second, third] = [
        await sessionOf(one),
        await sessionOf(other),
        await sessionOf(one),
      ];
      if (first === second || second === third || first !== third) throw new LentSession();
    }
  } catch (error) {
    throw foreignStatement.includes(sqlStateOf(error) ?? "") ? new LentSession() : error;
  } finally {
    void one.release();
    void other.release();
  }
}

async function sessionOf(connection: ReservedSQL): Promise<number | undefined> {
  const [row]: [number][] = await connection.unsafe("select pg_backend_pid()").values();
  return row?.[0];
}

/** Warns of timeouts that the session does not have as we set them. */
async function timeoutWarnings(pool: SQL, { statementTimeoutMs }: ServerLimits): Promise<string[]> {
  const wanted: Readonly<Record<string, string>> = timeouts(statementTimeoutMs);
  const rows: { name: string; setting: string }[] = await pool.unsafe(
    `select name, setting from pg_settings where name in (${Object.keys(wanted)
      .map((name) => `'${name}'`)
      .join()})`,
  );
  const lost = rows.filter(({ name, setting }) => setting !== wanted[name]);
  if (lost.length === 0) return [];
  const set = lost.map(({ name }) => `alter role current_user set ${name} = ${wanted[name]}`);
  return [
    `A pooler keeps timeouts from the PostgreSQL server: set them yourself, as this role, by \`${set.join("; ")}\``,
  ];
}

/** Other programs may have tables in the same schema. A sequence is named `<table>_<column>`. */
function namesOf({ tables }: Schema): readonly string[] {
  return [migrationsTable, ...tables].flatMap((table) => [
    table.name,
    ...columnsOf(table).map(({ name }) => `${table.name}_${name}`),
  ]);
}

const rightsText = `select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace
  and relname = any($1) and case relkind
    when 'r' then not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
    when 'S' then not (has_sequence_privilege(oid, 'select') and has_sequence_privilege(oid, 'usage'))
    else false end
  order by relname`;

/** What is there, and not for a role that is not its owner. */
async function missingRights(pool: SQL, schema: Schema): Promise<string[]> {
  const rows: { name: string }[] = await pool.unsafe(rightsText, [namesOf(schema)]);
  if (rows.length === 0) return [];
  const lacking = rows.map(({ name }) => name).join(", ");
  return [
    `The role in DATABASE_URL may not do all it needs with ${lacking}: grant it select, insert, update and delete on all tables, and usage and select on all sequences of the schema`,
  ];
}
