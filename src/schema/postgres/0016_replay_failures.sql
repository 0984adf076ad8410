-- The events that a bulk replay could not replay.
create table replay_failures (
  replay_id text collate "C" not null,
  id text collate "C" not null,
  created_at bigint not null,
  error text collate "C" not null,
  primary key (replay_id, id)
);
create index replay_failures_newest on replay_failures (replay_id, created_at, id);
