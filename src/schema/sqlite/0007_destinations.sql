-- Notifications go to any number of destinations, each with a delivery of its own.
create table destinations (
  id text not null primary key,
  name text not null,
  owner_id text,
  format text not null,
  address text not null,
  filter text,
  order_by text,
  rate_per_second integer,
  max_concurrent integer not null,
  alerts integer not null,
  state text not null,
  created_at integer not null,
  updated_at integer not null,
  failures integer not null,
  open_until integer,
  sealed blob not null
) strict;
create unique index destinations_name on destinations (name);
create index destinations_newest on destinations (created_at, id);
create index destinations_of_owner on destinations (owner_id, created_at, id);

create table deliveries (
  seq integer primary key autoincrement,
  id text not null,
  destination_id text not null,
  notification_id text not null,
  event_id text not null,
  owner_id text,
  created_at integer not null,
  order_key text,
  status text not null,
  attempt_count integer not null,
  due_at integer,
  leased_until integer,
  delivered_at integer,
  last_error text
) strict;
create index deliveries_of_destination on deliveries (destination_id, created_at, id);
create index deliveries_of_event on deliveries (event_id);
create index deliveries_due on deliveries (destination_id, due_at) where due_at is not null;
create index deliveries_of_key on deliveries (destination_id, order_key, seq) where order_key is not null and due_at is not null;
create index deliveries_dead on deliveries (destination_id, created_at, id) where status = 'dead';

-- The operator gateway becomes a destination when the program starts; its id is fixed.
insert into deliveries (id, destination_id, notification_id, event_id, created_at, status, attempt_count, due_at, delivered_at, last_error)
  select 'dlv_' || substr(id, 5), 'dst_00000000000000000000000000000000', id, event_id, created_at, status, attempt_count, due_at, delivered_at, last_error
  from notifications where status <> 'delivered' or attempt_count > 0 order by seq;
alter table attempts add column destination_id text not null default 'dst_00000000000000000000000000000000';
drop index notifications_due;
alter table notifications drop column leased_until;
