-- When the airline removed the flight from sale.
alter table flights add column cancelled_at bigint;

-- What an import changed of flights. A move of a flight without bookings is kept too, so that its line can be imported again.
create table flight_changes (
  id text collate "C" not null primary key,
  flight_id integer not null,
  type text collate "C" not null,
  previous_departure_time bigint not null,
  previous_arrival_time bigint not null,
  previous_origin text collate "C" not null,
  previous_destination text collate "C" not null,
  departure_time bigint not null,
  arrival_time bigint not null,
  origin text collate "C" not null,
  destination text collate "C" not null,
  asks_owners boolean not null,
  created_at bigint not null
);
create index flight_changes_newest on flight_changes (created_at, id);
create index flight_changes_of_flight on flight_changes (flight_id, departure_time, previous_departure_time);

-- The bookings that a change affects.
create table flight_change_notices (
  change_id text collate "C" not null,
  booking_id text collate "C" not null,
  status text collate "C" not null,
  created_at bigint not null,
  notified_at bigint,
  answered_at bigint,
  answered_by text collate "C",
  primary key (booking_id, change_id)
);
create index flight_change_notices_of_change on flight_change_notices (change_id, status);
create index flight_change_notices_unsent on flight_change_notices (change_id, booking_id) where notified_at is null;
create index flight_change_notices_unanswered on flight_change_notices (booking_id) where status = 'unanswered';
