-- Replays of many events. Their progress is stored with each event, so that a crash repeats none.
create table replays (
  id text collate "C" not null primary key,
  created_at bigint not null,
  actor text collate "C" not null,
  status text collate "C" not null,
  filters json not null,
  rate_per_second integer not null,
  total integer not null,
  updated_at bigint not null,
  last_error text collate "C",
  resent integer not null,
  notified integer not null,
  silent integer not null,
  deleted integer not null,
  failed integer not null,
  changed integer not null,
  position_at bigint,
  position_id text collate "C",
  leased_by text collate "C",
  leased_until bigint
);
create index replays_newest on replays (created_at, id);
-- One runs at a time.
create unique index replays_running on replays (status) where status = 'running';
