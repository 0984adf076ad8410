-- Times are whole milliseconds since the epoch, set by the program's clock.
-- Every list is read by keyset on (created_at, id); ids are text, so that SQLite seeks on both columns.

create table events (
  id text not null primary key,
  provider text not null,
  type text not null,
  status text not null,
  idempotency_key text not null,
  occurred_at integer not null,
  created_at integer not null,
  subject text,
  title text not null,
  url text,
  actor text,
  data text not null,
  headers text,
  address text,
  signed_with text,
  body_bytes integer not null,
  duplicates integer not null,
  body_hash blob,
  body blob
) strict;
-- What makes an event one event: its key, and for providers that do not sign the delivery id its bytes.
create unique index events_key on events (idempotency_key);
create unique index events_body on events (provider, body_hash) where body_hash is not null;
create index events_newest on events (created_at, id);
create index events_of_provider on events (provider, created_at, id);
create index events_of_type on events (type, created_at, id);
create index events_unaccepted on events (status, created_at, id) where status <> 'accepted';

create table notifications (
  seq integer primary key autoincrement,
  id text not null,
  event_id text not null,
  created_at integer not null,
  title text not null,
  text text not null,
  url text,
  severity text not null,
  status text not null,
  attempt_count integer not null,
  due_at integer,
  leased_until integer,
  delivered_at integer,
  last_error text
) strict;
create index notifications_newest on notifications (created_at, id);
create index notifications_of_event on notifications (event_id);
create index notifications_due on notifications (due_at) where due_at is not null;
create index notifications_undelivered on notifications (status, created_at, id) where status <> 'delivered';

create table attempts (
  notification_id text not null,
  started_at integer not null,
  duration_ms integer not null,
  delivered integer not null,
  response_status integer,
  error text
) strict;
create index attempts_of_notification on attempts (notification_id, started_at);

create table rejections (
  id text not null primary key,
  provider text not null,
  created_at integer not null,
  reason text not null,
  address text not null,
  request_id text not null,
  headers text not null,
  signatures text not null,
  body_bytes integer not null,
  body blob
) strict;
create index rejections_newest on rejections (created_at, id);
create index rejections_of_provider on rejections (provider, created_at, id);

create table users (
  id text not null primary key,
  name text not null,
  email text not null,
  created_at integer not null
) strict;
create unique index users_email on users (lower(email));
create index users_newest on users (created_at, id);
