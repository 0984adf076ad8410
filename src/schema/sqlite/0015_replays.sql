-- Replays of many events. Their progress is stored with each event, so that a crash repeats none.
create table replays (
  id text not null primary key,
  created_at integer not null,
  actor text not null,
  status text not null,
  filters text not null,
  rate_per_second integer not null,
  total integer not null,
  updated_at integer not null,
  last_error text,
  resent integer not null,
  notified integer not null,
  silent integer not null,
  deleted integer not null,
  failed integer not null,
  changed integer not null,
  position_at integer,
  position_id text,
  leased_by text,
  leased_until integer
) strict;
create index replays_newest on replays (created_at, id);
-- One runs at a time.
create unique index replays_running on replays (status) where status = 'running';
