import { Database } from "bun:sqlite";
import { statSync } from "node:fs";

import { firstPositionAt, idAt } from "../src/base/ids.ts";
import { migrate } from "../src/db/sqlite/migrate.ts";
import { schema } from "../src/schema/schema.ts";

/** The position of an event in the list. */
export interface Row {
  readonly createdAt: Date;
  readonly id: string;
}

export interface Cost {
  readonly seconds: number;
  readonly gigabytes: number;
}

const startMs = Date.UTC(2026, 0, 1);
/** Flights depart in the far future, so that they can be booked. */
const departureMs = Date.UTC(2060, 0, 1);
const timeOf = (stepMs: number): string => `${startMs} + n * ${stepMs}`;

/** The columns that the rows below have values for. */
const columns = {
  events:
    "(position, tail, provider, type, status, idempotency_key, occurred_at, subject, title, url, actor, data, headers, address, signed_with, body_bytes, duplicates, body_hash, body)",
  flights:
    "(id, flight_number, airline, origin, destination, departure_time, arrival_time, cabin_class, seats, seats_available, price_minor, currency, created_at)",
  bookings:
    "(id, reference, user_id, flight_id, status, seats, total_minor, currency, contact_email, payment_method, created_at, updated_at, cancelled_at, refund_minor, refund_percent, refund_reason)",
} as const;

/** Fill flights before bookings. */
const selects = {
  events: (stepMs: number) => `
    select ${firstPositionAt(startMs)} + n * ${firstPositionAt(stepMs)}, n, 'provider_' || (n % 5), 'kind_' || (n % 20) || '.completed', 'accepted',
      'provider_' || (n % 5) || ':' || lower(hex(randomblob(16))), ${timeOf(stepMs)},
      'workflow_run/' || n, 'Deploy failed on main: a commit message (octo/skyhook #' || n || ')',
      'https://example.com/octo/skyhook/actions/runs/' || n, 'octocat',
      json_object('workflow', 'Deploy', 'conclusion', 'failure', 'branch', 'main', 'number', n,
        'trigger', 'push', 'repository', 'octo/skyhook'),
      null, '127.0.0.1', 'current', 0, 0, null, null from numbers`,
  flights: (stepMs: number) => `
    select n, 'SK' || n, 'Skyhook Air', 'LHR', 'JFK', ${departureMs} + n * 60000, ${departureMs} + n * 60000 + 28800000,
      'economy', 300, 300, 49950, 'GBP', ${timeOf(stepMs)} from numbers`,
  bookings: (stepMs: number) => `
    select printf('bk_%012x%020x', ${timeOf(stepMs)}, n), 'R' || printf('%09d', n), 'user-' || (n % 1000),
      1 + (n % (select count(*) from flights)), 'confirmed', 1, 49950, 'GBP', 'contact@example.com', 'card',
      ${timeOf(stepMs)}, ${timeOf(stepMs)}, null, null, null, null from numbers`,
};

/**
 * Creates the database `file` with Skyhook's schema and fills it. `stepMs` is the time between consecutive
 * rows.
 */
export function fill(
  file: string,
  content: readonly {
    readonly table: keyof typeof selects;
    readonly rows: number;
    readonly stepMs: number;
  }[],
): Cost {
  const started = performance.now();
  const database = new Database(file, { create: true, strict: true });
  migrate(database, schema, false);
  // The file is temporary, so it needs no protection against crashes.
  for (const pragma of ["journal_mode = off", "synchronous = off", "cache_size = -500000"]) {
    database.run(`pragma ${pragma}`);
  }
  for (const { table, rows, stepMs } of content) {
    // Creating an index for existing rows is several times faster than updating it for each row.
    const indexes = database
      .query<{ name: string; sql: string }, [string]>(
        "select name, sql from sqlite_schema where type = 'index' and sql is not null and tbl_name = ?",
      )
      .all(table);
    for (const { name } of indexes) database.run(`drop index ${name}`);
    database.run(
      `insert into ${table} ${columns[table]} with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rows})
       ${selects[table](stepMs)}`,
    );
    for (const { sql } of indexes) database.run(sql);
  }
  database.close();
  return {
    seconds: (performance.now() - started) / 1_000,
    gigabytes: statSync(file).size / 1e9,
  };
}

/** The event that `fill` made with this number, from 1 for the oldest. */
export function eventRow(number: number, stepMs: number): Row {
  const ms = startMs + number * stepMs;
  return { createdAt: new Date(ms), id: idAt("evt", firstPositionAt(ms), number) };
}
