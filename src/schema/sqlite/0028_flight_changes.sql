-- When the airline removed the flight from sale.
alter table flights add column cancelled_at integer;

-- What an import changed of flights. A move of a flight without bookings is kept too, so that its line can be imported again.
create table flight_changes (
  id text not null primary key,
  flight_id integer not null,
  type text not null,
  previous_departure_time integer not null,
  previous_arrival_time integer not null,
  previous_origin text not null,
  previous_destination text not null,
  departure_time integer not null,
  arrival_time integer not null,
  origin text not null,
  destination text not null,
  asks_owners integer not null,
  created_at integer not null
) strict;
create index flight_changes_newest on flight_changes (created_at, id);
create index flight_changes_of_flight on flight_changes (flight_id, departure_time, previous_departure_time);

-- The bookings that a change affects.
create table flight_change_notices (
  change_id text not null,
  booking_id text not null,
  status text not null,
  created_at integer not null,
  notified_at integer,
  answered_at integer,
  answered_by text,
  primary key (booking_id, change_id)
) strict, without rowid;
create index flight_change_notices_of_change on flight_change_notices (change_id, status);
create index flight_change_notices_unsent on flight_change_notices (change_id, booking_id) where notified_at is null;
create index flight_change_notices_unanswered on flight_change_notices (booking_id) where status = 'unanswered';
