-- Times are whole milliseconds since the epoch, set by the program's clock: the same numbers as in
-- SQLite, so that a copy is equal and a cursor stays valid.
-- Text is compared byte by byte (collate "C"), whatever the database's own order is.
-- JSON columns keep the text as it was sent: jsonb refuses "\u0000" and forgets the order of keys.

create table events (
  id text collate "C" not null primary key,
  provider text collate "C" not null,
  type text collate "C" not null,
  status text collate "C" not null,
  idempotency_key text collate "C" not null,
  occurred_at bigint not null,
  created_at bigint not null,
  subject text collate "C",
  title text collate "C" not null,
  url text collate "C",
  actor text collate "C",
  data json not null,
  headers json,
  address text collate "C",
  signed_with text collate "C",
  body_bytes integer not null,
  duplicates integer not null,
  body_hash bytea,
  body bytea
);
-- What makes an event one event: its key, and for providers that do not sign the delivery id its bytes.
create unique index events_key on events (idempotency_key);
create unique index events_body on events (provider, body_hash) where body_hash is not null;
create index events_newest on events (created_at, id);
create index events_of_provider on events (provider, created_at, id);
create index events_of_type on events (type, created_at, id);
create index events_unaccepted on events (status, created_at, id) where status <> 'accepted';

create sequence notifications_seq;

-- Numbers of concurrent transactions become visible in any order. So that a reader can know below which
-- number nothing more will appear, a transaction announces, before it takes its first number, the newest
-- one given out by then: as the second half of an advisory lock, which ends with the transaction.
create function next_notification_seq() returns bigint language plpgsql as $$
declare given bigint;
begin
  if coalesce(current_setting('skyhook.seq_announced', true), '') = '' then
    select case when is_called then last_value else last_value - 1 end into given from notifications_seq;
    perform pg_advisory_xact_lock_shared('notifications_seq'::regclass::oid::int4, (given & 2147483647)::int4);
    -- For this transaction only; a savepoint that is rolled back takes both back.
    perform set_config('skyhook.seq_announced', 'yes', true);
  end if;
  return nextval('notifications_seq');
end $$;

-- The number up to which every notification is committed or will never be. What has a number at most
-- `given` had announced itself before: now it still shows in the locks, or it has ended. Rows must be
-- read by a later statement, whose snapshot then holds all of them.
create function settled_notification_seq() returns bigint language plpgsql volatile as $$
declare
  given bigint;
  announced bigint;
begin
  select case when is_called then last_value else last_value - 1 end into given from notifications_seq;
  select min(given - ((given - objid::bigint) & 2147483647)) into announced
    from pg_locks
    where locktype = 'advisory' and objsubid = 2
      and classid = 'notifications_seq'::regclass::oid
      and database = (select oid from pg_database where datname = current_database());
  return least(given, announced);
end $$;

create table notifications (
  seq bigint not null default next_notification_seq() primary key,
  id text collate "C" not null,
  event_id text collate "C" not null,
  created_at bigint not null,
  title text collate "C" not null,
  text text collate "C" not null,
  url text collate "C",
  severity text collate "C" not null,
  status text collate "C" not null,
  attempt_count integer not null,
  due_at bigint,
  leased_until bigint,
  delivered_at bigint,
  last_error text collate "C"
);
create index notifications_newest on notifications (created_at, id);
create index notifications_of_event on notifications (event_id);
create index notifications_due on notifications (due_at) where due_at is not null;
create index notifications_undelivered on notifications (status, created_at, id) where status <> 'delivered';

create table attempts (
  notification_id text collate "C" not null,
  started_at bigint not null,
  duration_ms integer not null,
  delivered boolean not null,
  response_status integer,
  error text collate "C"
);
create index attempts_of_notification on attempts (notification_id, started_at);

create table rejections (
  id text collate "C" not null primary key,
  provider text collate "C" not null,
  created_at bigint not null,
  reason text collate "C" not null,
  address text collate "C" not null,
  request_id text collate "C" not null,
  headers json not null,
  signatures json not null,
  body_bytes integer not null,
  body bytea
);
create index rejections_newest on rejections (created_at, id);
create index rejections_of_provider on rejections (provider, created_at, id);

create table users (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  email text collate "C" not null,
  created_at bigint not null
);
create unique index users_email on users (lower(email));
create index users_newest on users (created_at, id);

create sequence flights_id;
create table flights (
  id integer not null,
  flight_number text collate "C" not null,
  airline text collate "C" not null,
  origin text collate "C" not null,
  destination text collate "C" not null,
  departure_time bigint not null,
  arrival_time bigint not null,
  cabin_class text collate "C" not null,
  seats integer not null,
  seats_available integer not null,
  price_minor bigint not null,
  currency text collate "C" not null,
  created_at bigint not null,
  -- The last line of defence against overselling, whatever a statement says.
  check (seats_available between 0 and seats)
);
create unique index flights_id_key on flights (id);
create unique index flights_departure on flights (flight_number, departure_time, cabin_class);
create index flights_route on flights (origin, destination, departure_time, id);
create index flights_newest on flights (created_at, id);

create table bookings (
  id text collate "C" not null primary key,
  reference text collate "C" not null,
  user_id text collate "C" not null,
  flight_id integer not null,
  status text collate "C" not null,
  seats integer not null,
  total_minor bigint not null,
  currency text collate "C" not null,
  contact_email text collate "C" not null,
  payment_method text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  cancelled_at bigint,
  refund_minor bigint,
  refund_percent integer,
  refund_reason text collate "C"
);
create unique index bookings_reference on bookings (reference);
create index bookings_newest on bookings (created_at, id);
create index bookings_of_user on bookings (user_id, created_at, id);
create index bookings_of_flight on bookings (flight_id);

create table passengers (
  booking_id text collate "C" not null,
  position integer not null,
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  email text collate "C" not null,
  sealed bytea not null,
  primary key (booking_id, position)
);

create table idempotency (
  scope text collate "C" not null,
  key text collate "C" not null,
  request_hash bytea not null,
  resource_id text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (scope, key)
);
create index idempotency_expiry on idempotency (expires_at);

create table clients (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  secret_hash text collate "C" not null,
  roles json not null,
  created_at bigint not null
);

-- Who looked at what of a person, and why.
create table disclosures (
  id text collate "C" not null primary key,
  booking_id text collate "C" not null,
  actor text collate "C" not null,
  reason text collate "C" not null,
  created_at bigint not null
);
create index disclosures_of_booking on disclosures (booking_id, created_at);
