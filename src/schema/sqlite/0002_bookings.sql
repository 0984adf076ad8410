create table flights (
  -- Not "integer primary key": that is the rowid itself, and SQLite then seeks keysets on created_at alone.
  id int not null,
  flight_number text not null,
  airline text not null,
  origin text not null,
  destination text not null,
  departure_time integer not null,
  arrival_time integer not null,
  cabin_class text not null,
  seats integer not null,
  seats_available integer not null,
  price_minor integer not null,
  currency text not null,
  created_at integer not null,
  -- The last line of defence against overselling, whatever a statement says.
  check (seats_available between 0 and seats)
) strict;
create unique index flights_id on flights (id);
create unique index flights_departure on flights (flight_number, departure_time, cabin_class);
create index flights_route on flights (origin, destination, departure_time, id);
create index flights_newest on flights (created_at, id);

create table bookings (
  id text not null primary key,
  reference text not null,
  user_id text not null,
  flight_id integer not null,
  status text not null,
  seats integer not null,
  total_minor integer not null,
  currency text not null,
  contact_email text not null,
  payment_method text not null,
  created_at integer not null,
  updated_at integer not null,
  cancelled_at integer,
  refund_minor integer,
  refund_percent integer,
  refund_reason text
) strict;
create unique index bookings_reference on bookings (reference);
create index bookings_newest on bookings (created_at, id);
create index bookings_of_user on bookings (user_id, created_at, id);
create index bookings_of_flight on bookings (flight_id);

create table passengers (
  booking_id text not null,
  position integer not null,
  first_name text not null,
  last_name text not null,
  email text not null,
  sealed blob not null,
  primary key (booking_id, position)
) strict, without rowid;

create table idempotency (
  scope text not null,
  key text not null,
  request_hash blob not null,
  resource_id text not null,
  created_at integer not null,
  expires_at integer not null,
  primary key (scope, key)
) strict, without rowid;
create index idempotency_expiry on idempotency (expires_at);

create table clients (
  id text not null primary key,
  name text not null,
  secret_hash text not null,
  roles text not null,
  created_at integer not null
) strict;

-- Who looked at what of a person, and why.
create table disclosures (
  id text not null primary key,
  booking_id text not null,
  actor text not null,
  reason text not null,
  created_at integer not null
) strict;
create index disclosures_of_booking on disclosures (booking_id, created_at);
