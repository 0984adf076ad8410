import { Database } from "bun:sqlite";

/** How much data expires while a server runs: per second, as many events and as many bodies of other events. */
export interface Expiry {
  readonly perSecond: number;
  readonly seconds: number;
}

const dayMs = 86_400_000;
/** The defaults of EVENT_RETENTION_DAYS and BODY_RETENTION_DAYS. */
const eventDays = 90;
const bodyDays = 30;
const bodyBytes = 1_466;
const users = 50;

/**
 * Fills a new database of Skyhook with users and with deliveries that expire one after the other from now on,
 * so that retention deletes as much as comes in, as it does after the first months.
 */
export function fillExpiring(file: string, { perSecond, seconds }: Expiry): void {
  const count = Math.ceil(perSecond * seconds);
  const database = new Database(file, { strict: true });
  // The file is temporary. It is synced at the end, so that no write-back disturbs the measurement.
  database.run("pragma synchronous = off");
  database.run("begin");
  insertUsers(database);
  if (count > 0) {
    insertDeliveries(database, count, perSecond, eventDays, "null");
    insertDeliveries(database, count, perSecond, bodyDays, `randomblob(${bodyBytes})`);
  }
  database.run("commit");
  database.run("pragma synchronous = full");
  database.run("pragma wal_checkpoint(truncate)");
  database.close();
}

const numbers = (count: number) =>
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`;

function insertUsers(database: Database): void {
  database.run(`insert into users (id, name, email, created_at) ${numbers(users)}
    select printf('%08x-0000-4000-8000-000000000000', n), 'User ' || n, n || '@example.com', ${Date.now()} - n from numbers`);
}

function insertDeliveries(
  database: Database,
  count: number,
  perSecond: number,
  days: number,
  body: string,
): void {
  const createdAt = `${Date.now() - days * dayMs} + cast(n * ${1_000 / perSecond} as integer)`;
  database.run(`insert into events (id, seq, provider, type, status, idempotency_key, occurred_at, created_at, subject,
      title, url, actor, data, headers, address, signed_with, body_bytes, duplicates, body_hash, body)
    ${numbers(count)}
    select printf('evt_%012x%04x%016x', ${createdAt}, ${days}, n), (select coalesce(max(seq), 0) from events) + n, 'code_host', 'workflow_run.completed', 'accepted',
      'code_host:' || lower(hex(randomblob(16))), ${createdAt}, ${createdAt}, 'workflow_run/' || n,
      'Deploy failed on main: a commit message (octo/skyhook #' || n || ')',
      'https://example.com/octo/skyhook/actions/runs/' || n, 'octocat',
      json_object('workflow', 'Deploy', 'conclusion', 'failure', 'branch', 'main', 'repository', 'octo/skyhook'),
      '{}', '127.0.0.1', 'current', ${bodyBytes}, 0, randomblob(16), ${body} from numbers`);
  database.run(`insert into notifications (id, event_id, created_at, title, text, url, severity, status,
      attempt_count, delivered_at)
    select replace(id, 'evt_', 'ntf_'), id, created_at, title, 'by octocat', url, 'error', 'delivered', 0, created_at
      from events where created_at between ${Date.now() - (days + 1) * dayMs} and ${Date.now() - (days - 1) * dayMs}
      and id not in (select event_id from notifications)`);
}

/**
 * Throws if the database lacks deliveries that were acknowledged since `startMs`, or if retention deleted
 * nothing although data expired.
 */
export function checkExpiring(
  file: string,
  { perSecond, seconds }: Expiry,
  { startMs, acknowledged }: { readonly startMs: number; readonly acknowledged: number },
): void {
  using database = new Database(file, { readonly: true });
  const count = (condition: string, value: number): number =>
    Number(
      database
        .query(`select count(*) from events where created_at ${condition} ?`)
        .values(value)[0]?.[0],
    );
  const stored = count(">=", startMs);
  if (stored !== acknowledged)
    throw new Error(`${acknowledged} deliveries were acknowledged, but ${stored} are stored`);
  const filled = 2 * Math.ceil(perSecond * seconds);
  if (filled > 0 && count("<", startMs) === filled) throw new Error("Retention deleted nothing");
}
