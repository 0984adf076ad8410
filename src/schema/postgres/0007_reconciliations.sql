-- How far the logs of providers were compared with what arrived.
create table reconciliations (
  provider text collate "C" not null primary key,
  covered_until bigint,
  page text collate "C",
  run_until bigint,
  next_run_at bigint not null,
  paused_until bigint,
  leased_by text collate "C",
  leased_until bigint,
  checked_at bigint,
  succeeded_at bigint,
  error text collate "C",
  recovered bigint not null
);
