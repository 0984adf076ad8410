-- Sessions of operators in the console. Only a hash of the cookie is stored.
create table sessions (
  id text not null primary key,
  hash text not null,
  actor text not null,
  roles text not null,
  address text not null,
  user_agent text not null,
  created_at integer not null,
  expires_at integer not null
) strict;
create unique index sessions_hash on sessions (hash);
create index sessions_newest on sessions (created_at, id);
create index sessions_expiry on sessions (expires_at);

-- Issues that operators do not want to see until a time.
create table mutes (
  issue_id text not null primary key,
  until integer not null
) strict;
