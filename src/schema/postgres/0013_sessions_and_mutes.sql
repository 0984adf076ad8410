-- Sessions of operators in the console. Only a hash of the cookie is stored.
create table sessions (
  id text collate "C" not null primary key,
  hash text collate "C" not null,
  actor text collate "C" not null,
  roles json not null,
  address text collate "C" not null,
  user_agent text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null
);
create unique index sessions_hash on sessions (hash);
create index sessions_newest on sessions (created_at, id);
create index sessions_expiry on sessions (expires_at);

-- Issues that operators do not want to see until a time.
create table mutes (
  issue_id text collate "C" not null primary key,
  until bigint not null
);
