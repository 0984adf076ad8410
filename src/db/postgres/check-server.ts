import type { ReservedSQL, SQL } from "bun";

import { migrationsTable, type Schema } from "../schema.ts";
import type { ServerLimits } from "../storage.ts";
import { columnsOf } from "../table.ts";

import { requireLocks, requirePartitions, requireSkippedRows } from "./abilities.ts";
import { timeouts } from "./connect.ts";
import { answerWithin, sqlStateOf } from "./errors.ts";

/** The oldest server version that is tested. */
const leastVersion = 15;
/** The server reports slow statements itself, by its statement timeout. This long after it, it is gone. */
const graceMs = 2_000;

/** How long the server may take to answer before the connection counts as broken. */
export function answerTimeoutOf({
  statementTimeoutMs,
}: Pick<ServerLimits, "statementTimeoutMs">): number {
  return statementTimeoutMs + graceMs;
}

/** A server that passed the checks. */
export interface ServerFound {
  /** The schema of unqualified names. */
  readonly schema: string;
  /** What needs attention and what to do about it, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Throws when the server is too old or read-only, when the database cannot store all texts, when search_path names no
 * existing schema, when commits are not durable (synchronous_commit = off), when a pooler shares sessions between
 * clients, or when the server only looks like PostgreSQL.
 */
export function checkServer(pool: SQL, schema: Schema, limits: ServerLimits): Promise<ServerFound> {
  return inTime(check(pool, schema, limits), limits);
}

/** Like `checkServer`, for what can only be checked once the migrations are applied. */
export function checkMigrated(pool: SQL, limits: ServerLimits): Promise<void> {
  const checked = withSessions(pool, limits, async (one, other) => {
    if (other !== null) await requireSkippedRows(one, other);
  });
  return inTime(checked, limits);
}

/** A full pooler accepts a connection, and then never answers. */
function inTime<Answer>(answer: Promise<Answer>, limits: ServerLimits): Promise<Answer> {
  return answerWithin(answer, limits.connectTimeoutMs + answerTimeoutOf(limits));
}

const settingsText = `select current_setting('server_version_num'), current_schema(),
  current_setting('synchronous_commit'), current_setting('fsync'), current_setting('server_encoding'),
  pg_is_in_recovery() or current_setting('transaction_read_only') = 'on',
  current_setting('default_transaction_isolation')`;

async function check(pool: SQL, schema: Schema, limits: ServerLimits): Promise<ServerFound> {
  const [row]: [string, string | null, string, string, string, boolean, string][] = await pool
    .unsafe(settingsText)
    .values();
  if (row === undefined) throw new Error("it does not answer as PostgreSQL does");
  const [number, current, synchronousCommit, fsync, encoding, isReadOnly, isolation] = row;
  const version = Math.floor(Number(number) / 10_000);
  if (version < leastVersion) {
    throw new Error(`it is PostgreSQL ${version}: use ${leastVersion} or newer`);
  }
  if (encoding !== "UTF8") {
    throw new Error(
      `its encoding is ${encoding}, which cannot store all texts of webhooks: create the database with the encoding UTF8`,
    );
  }
  if (isReadOnly) throw new ReadOnlyServer();
  if (synchronousCommit === "off") {
    throw new Error(
      "its synchronous_commit is off, so a crash would lose acknowledged data: turn it on for this database",
    );
  }
  // What waits for a lock must then see what was committed meanwhile.
  if (isolation !== "read committed") {
    throw new Error(
      `its default_transaction_isolation is ${isolation}: set it to read committed for this database`,
    );
  }
  if (current === null) throw new Error("search_path names no existing schema: create it first");
  await withSessions(pool, limits, async (one, other) => {
    if (other !== null) await requireOwnSessions(one, other);
    await requireLocks(one, other);
    await requirePartitions(one);
  });
  const warnings = [
    ...(await timeoutWarnings(pool, limits)),
    ...(await missingRights(pool, schema)),
  ];
  if (fsync === "off") {
    warnings.push(
      "fsync of the PostgreSQL server is off, so a power failure can lose acknowledged data: turn it on",
    );
  }
  return { schema: current, warnings };
}

/** Thrown for a read-only server, before any write is tried. */
export class ReadOnlyServer extends Error {}

/** Thrown when a pooler assigns sessions per transaction or statement, not per connection. */
export class SharedSession extends Error {}

/** The check is repeated, since other clients of the pooler may hide that sessions are shared. */
const rounds = 3;
/** A prepared statement already exists or does not exist: it belongs to another session. */
const foreignStatement = ["42P05", "26000"];

/** Lends two sessions. A pool of one connection or a server that is full has no second one. */
async function withSessions(
  pool: SQL,
  { poolSize }: ServerLimits,
  use: (one: ReservedSQL, other: ReservedSQL | null) => Promise<void>,
): Promise<void> {
  const one = await pool.reserve();
  const other = poolSize > 1 ? await pool.reserve().catch(() => null) : null;
  try {
    await use(one, other);
  } finally {
    void one.release();
    void other?.release();
  }
}

/**
 * Without a pooler, each connection keeps its own session. Throws when two connections share a session, or
 * when one connection changes its session.
 */
async function requireOwnSessions(one: ReservedSQL, other: ReservedSQL): Promise<void> {
  try {
    for (let round = 0; round < rounds; round += 1) {
      const [first, second, third] = [
        await sessionOf(one),
        await sessionOf(other),
        await sessionOf(one),
      ];
      if (first === second || second === third || first !== third) throw new SharedSession();
    }
  } catch (error) {
    throw foreignStatement.includes(sqlStateOf(error) ?? "") ? new SharedSession() : error;
  }
}

async function sessionOf(connection: ReservedSQL): Promise<number | undefined> {
  const [row]: [number][] = await connection.unsafe("select pg_backend_pid()").values();
  return row?.[0];
}

/** Warns of timeouts that we set on connecting, but that the session does not have. */
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
    `A pooler does not pass timeouts to the PostgreSQL server: set them as this role with \`${set.join("; ")}\``,
  ];
}

/** Our tables and sequences; the schema may hold others. A sequence is named `<table>_<column>`. */
function namesOf({ tables }: Schema): readonly string[] {
  return [migrationsTable, ...tables].flatMap((table) => [
    table.name,
    ...columnsOf(table).map(({ name }) => `${table.name}_${name}`),
  ]);
}

// The names are ours, so they are part of the text. A parameter would make a prepared statement, whose name
// PGlite keeps for the next connection.
const rightsText = (names: readonly string[]) => `select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace
  and relname in (${names.map((name) => `'${name}'`).join()}) and case when relkind in ('r', 'p') then not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
    when relkind = 'S' then not (has_sequence_privilege(oid, 'select') and has_sequence_privilege(oid, 'usage')
      and has_sequence_privilege(oid, 'update'))
    else false end
  union select proname from pg_proc where pronamespace = current_schema()::regnamespace
  and prosecdef and not has_function_privilege(oid, 'execute')
  order by name`;

/** Warns of tables, sequences and functions that exist, but that the role may not use. */
async function missingRights(pool: SQL, schema: Schema): Promise<string[]> {
  const rows: { name: string }[] = await pool.unsafe(rightsText(namesOf(schema)));
  if (rows.length === 0) return [];
  const lacking = rows.map(({ name }) => name).join(", ");
  return [
    `The role in DATABASE_URL lacks privileges on ${lacking}: grant it select, insert, update and delete on all tables, usage, select and update on all sequences, and execute on all functions of the schema`,
  ];
}
