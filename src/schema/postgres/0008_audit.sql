-- Who did what: operators' actions.
create table audit (
  id text collate "C" not null primary key,
  created_at bigint not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  subject text collate "C" not null,
  detail text collate "C"
);
create index audit_newest on audit (created_at, id);
