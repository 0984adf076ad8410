-- Who did what: operators' actions.
create table audit (
  id text not null primary key,
  created_at integer not null,
  actor text not null,
  action text not null,
  subject text not null,
  detail text
) strict;
create index audit_newest on audit (created_at, id);
