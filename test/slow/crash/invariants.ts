import type { CrashDatabase, Left, Row } from "./databases.ts";

/** Rules that always hold, each with the SQL that finds violations. */
const rules: readonly (readonly [string, string])[] = [
  [
    "available and sold seats add up to the capacity",
    `select f.id, f.seats, f.seats_available, sum(b.seats) as sold
     from flights f left join bookings b on b.flight_id = f.id and b.status = 'confirmed'
     group by f.id, f.seats, f.seats_available
     having f.seats_available + coalesce(sum(b.seats), 0) <> f.seats`,
  ],
  [
    "a booking has a passenger for each seat",
    `select id, seats from bookings b
     where seats <> (select count(*) from passengers p where p.booking_id = b.id)`,
  ],
  [
    "a passenger has a booking",
    `select booking_id from passengers p
     where not exists (select 1 from bookings b where b.id = p.booking_id)`,
  ],
  [
    "a booking has exactly one idempotency key",
    `select id from bookings b
     where 1 <> (select count(*) from idempotency i where i.resource_id = b.id)`,
  ],
  [
    "a key has its booking",
    `select key from idempotency i
     where not exists (select 1 from bookings b where b.id = i.resource_id)`,
  ],
  [
    "only a cancelled booking has a refund, of at most the price",
    `select id, status, refund_minor, total_minor from bookings
     where (status = 'cancelled') <> (refund_minor is not null) or refund_minor > total_minor`,
  ],
  [
    "a booking has its event",
    `select id from bookings b where not exists
     (select 1 from events e where e.idempotency_key = 'bookings:' || b.id || ':confirmed')`,
  ],
  [
    "a cancelled booking has its event",
    `select id from bookings b where status = 'cancelled' and not exists
     (select 1 from events e where e.idempotency_key = 'bookings:' || b.id || ':cancelled')`,
  ],
  [
    "there are no other events of bookings",
    `select e.told, b.changes from
     (select count(*) as told from events where provider = 'bookings') e,
     (select count(*) + count(cancelled_at) as changes from bookings) b
     where e.told <> b.changes`,
  ],
  [
    "an idempotency key has one event",
    `select idempotency_key from events group by idempotency_key having count(*) > 1`,
  ],
  [
    "an event has one notification",
    `select id, type from events e
     where 1 <> (select count(*) from notifications n where n.event_id = e.id)`,
  ],
  [
    "a notification has its event",
    `select id from notifications n
     where not exists (select 1 from events e where e.id = n.event_id)`,
  ],
  [
    "a notification counts its recorded attempts, and only the last one may succeed",
    `select n.id, n.status, n.attempt_count from notifications n
     left join attempts a on a.notification_id = n.id
     group by n.id, n.status, n.attempt_count
     having n.attempt_count <> count(a.notification_id)
       or (n.status = 'delivered') <> (coalesce(max(case when a.delivered then 1 else 0 end), 0) = 1)`,
  ],
];

/** Returns the violations in the database of a dead process; empty for an intact one. */
export async function wrongWith(left: Left): Promise<readonly string[]> {
  const wrong = [...(await left.damage())];
  for (const [rule, sql] of rules) {
    const offenders = await left.rows(sql);
    if (offenders.length > 0) wrong.push(`${rule}, but for ${JSON.stringify(offenders)}`);
  }
  return wrong;
}

/** Reads rows of a dead process's database. Throws if a rule is violated. */
export async function wholeRows(database: CrashDatabase, sql: string): Promise<readonly Row[]> {
  const left = await database.left();
  try {
    const wrong = await wrongWith(left);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    return await left.rows(sql);
  } finally {
    left.close();
  }
}
