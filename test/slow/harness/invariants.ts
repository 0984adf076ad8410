import { operatorGateway } from "../../../src/outbound/model/destination.ts";

import type { Left, Row, TestedDatabase } from "./databases.ts";

/** Rules that always hold, each with the SQL that finds violations. */
const rules: readonly (readonly [string, string])[] = [
  [
    "available and sold seats add up to the capacity",
    `select f.id, f.seats, f.seats_available, sum(b.seats) as sold
     from flights f left join bookings b on b.flight_id = f.id and b.status in ('held', 'confirmed')
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
    "a confirmed booking has its event",
    `select id from bookings b where confirmed_at is not null and not exists
     (select 1 from events e where e.idempotency_key = 'bookings:' || b.id || ':confirmed')`,
  ],
  [
    "a hold has its event",
    `select id from bookings b where expires_at is not null and not exists
     (select 1 from events e where e.idempotency_key = 'bookings:' || b.id || ':held')`,
  ],
  [
    "a hold is confirmed by one payment, whose event says so",
    `select b.id, b.status, b.paid_minor from bookings b
     where (b.paid_minor is not null) <> exists (
         select 1 from payments p join events e on id_of('evt', e.position, e.tail) = p.event_id
         where p.booking_id = b.id and p.outcome = 'confirmed' and p.amount_minor = b.paid_minor
           and e.effect like 'confirmed ' || b.id || '%')
       or (b.expires_at is not null and b.confirmed_at is not null) <> (b.paid_minor is not null)`,
  ],
  [
    "what was refunded is what the last refund's event says",
    `select b.id, b.refunded_minor from bookings b
     where b.refunded_minor <> coalesce((select max(p.amount_minor) from payments p
       join events e on id_of('evt', e.position, e.tail) = p.event_id and e.effect like 'refunded %' || b.id
       where p.booking_id = b.id and p.outcome = 'refunded'), 0)`,
  ],
  [
    "an event about a payment says what it changed",
    `select idempotency_key, type from events e where provider = 'payment_processor' and effect is null`,
  ],
  [
    "a cancelled booking has its event",
    `select id from bookings b where status = 'cancelled' and not exists
     (select 1 from events e where e.idempotency_key = 'bookings:' || b.id || ':cancelled')`,
  ],
  [
    "there are no other events of bookings",
    `select e.told, b.changes from
     (select count(*) as told from events where provider = 'bookings' and type like 'booking.%') e,
     (select count(expires_at) + count(confirmed_at) + count(expired_at) + count(cancelled_at)
       + (select count(*) from payments where outcome = 'refunded') as changes from bookings) b
     where e.told <> b.changes`,
  ],
  [
    "an idempotency key has one event",
    `select idempotency_key from events group by idempotency_key having count(*) > 1`,
  ],
  [
    "an event has one notification",
    `select idempotency_key, type from events e
     where 1 <> (select count(*) from notifications n where n.event = e.position)`,
  ],
  [
    "a notification has its event",
    `select position from notifications n
     where not exists (select 1 from events e where e.position = n.event)`,
  ],
  [
    "a notification has one delivery to the operator gateway",
    `select n.position from notifications n
     where 1 <> (select count(*) from deliveries d join destinations t on t.number = d.destination
       where d.notification = n.position and d.event = n.event and t.id = '${operatorGateway.id}')`,
  ],
  [
    "a notification has one delivery to each destination without a filter",
    `select n.position, t.name from notifications n
     join destinations t on t.filter is null and t.owner_id is null
       and t.state <> 'disabled' and t.created_at < n.position / 1024
     where 1 <> (select count(*) from deliveries d where d.notification = n.position
       and d.event = n.event and d.destination = t.number)`,
  ],
  [
    "a delivery has its notification",
    `select d.notification, d.destination from deliveries d where not exists
     (select 1 from notifications n where n.position = d.notification and n.event = d.event)`,
  ],
  [
    "a delivery counts its recorded attempts, of which it has the one that succeeded",
    `select d.notification, d.destination, d.status, d.attempt_count from deliveries d
     left join failed_attempts a
       on a.notification = d.notification and a.destination = d.destination
     group by d.notification, d.destination, d.status, d.attempt_count, d.started_at
     having d.attempt_count <> count(a.notification) + case when d.started_at is null then 0 else 1 end
       or (d.status = 'delivered') <> (d.started_at is not null)`,
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
export const wholeRows = (database: TestedDatabase, sql: string): Promise<readonly Row[]> =>
  database.left(async (left) => {
    const wrong = await wrongWith(left);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
    return left.rows(sql);
  });
