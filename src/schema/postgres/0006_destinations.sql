-- Notifications go to any number of destinations, each with a delivery of its own.
create table destinations (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  owner_id text collate "C",
  format text collate "C" not null,
  address text collate "C" not null,
  filter text collate "C",
  order_by text collate "C",
  rate_per_second integer,
  max_concurrent integer not null,
  alerts boolean not null,
  state text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  failures integer not null,
  open_until bigint,
  sealed bytea not null
);
create unique index destinations_name on destinations (name);
create index destinations_newest on destinations (created_at, id);
create index destinations_of_owner on destinations (owner_id, created_at, id);

create sequence deliveries_seq;
create table deliveries (
  seq bigint not null primary key default nextval('deliveries_seq'),
  id text collate "C" not null,
  destination_id text collate "C" not null,
  notification_id text collate "C" not null,
  event_id text collate "C" not null,
  owner_id text collate "C",
  created_at bigint not null,
  order_key text collate "C",
  status text collate "C" not null,
  attempt_count integer not null,
  due_at bigint,
  leased_until bigint,
  delivered_at bigint,
  last_error text collate "C"
);
create index deliveries_of_destination on deliveries (destination_id, created_at, id);
create index deliveries_of_event on deliveries (event_id);
create index deliveries_due on deliveries (destination_id, due_at) where due_at is not null;
create index deliveries_of_key on deliveries (destination_id, order_key, seq) where order_key is not null and due_at is not null;
create index deliveries_dead on deliveries (destination_id, created_at, id) where status = 'dead';

-- The operator gateway becomes a destination when the program starts; its id is fixed.
insert into deliveries (id, destination_id, notification_id, event_id, created_at, status, attempt_count, due_at, delivered_at, last_error)
  select 'dlv_' || substr(id, 5), 'dst_00000000000000000000000000000000', id, event_id, created_at, status, attempt_count, due_at, delivered_at, last_error
  from notifications where status <> 'delivered' or attempt_count > 0 order by seq;
alter table attempts add column destination_id text collate "C" not null default 'dst_00000000000000000000000000000000';
drop index notifications_due;
alter table notifications drop column leased_until;
