-- Users who wait for seats on a flight that has too few, in line by `place`. An offer holds seats for one of them.
create table waitlist_entries (
  id text collate "C" not null primary key,
  user_id text collate "C" not null,
  flight_id integer not null,
  place integer not null,
  seats integer not null,
  status text collate "C" not null,
  until bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  offered_at bigint,
  offer_expires_at bigint
);
create unique index waitlist_open on waitlist_entries (user_id, flight_id) where status in ('waiting', 'offered');
create unique index waitlist_line on waitlist_entries (flight_id, place) where status = 'waiting';
-- Whether an entry fits into the free seats of a flight is asked by every sale.
create index waitlist_fitting on waitlist_entries (flight_id, seats, until) where status = 'waiting';
create index waitlist_due on waitlist_entries (coalesce(offer_expires_at, until)) where status in ('waiting', 'offered');
create index waitlist_newest on waitlist_entries (created_at, id);
create index waitlist_of_user on waitlist_entries (user_id, created_at, id);
create index waitlist_of_flight on waitlist_entries (flight_id, created_at, id);
