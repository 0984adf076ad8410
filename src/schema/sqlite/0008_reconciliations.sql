-- How far the logs of providers were compared with what arrived.
create table reconciliations (
  provider text not null primary key,
  covered_until integer,
  page text,
  run_until integer,
  next_run_at integer not null,
  paused_until integer,
  leased_by text,
  leased_until integer,
  checked_at integer,
  succeeded_at integer,
  error text,
  recovered integer not null
) strict;
