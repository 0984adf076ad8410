-- The events that a bulk replay could not replay.
create table replay_failures (
  replay_id text not null,
  id text not null,
  created_at integer not null,
  error text not null,
  primary key (replay_id, id)
) strict, without rowid;
create index replay_failures_newest on replay_failures (replay_id, created_at, id);
