-- Of each order key, only the first unsettled delivery is due; the others are blocked. So the cost of finding
-- due deliveries does not depend on how many wait behind others.
alter table deliveries add column blocked integer not null default 0;
alter table deliveries add column after_dead integer not null default 0;
update deliveries set blocked = 1 where order_key is not null and due_at is not null and exists (
  select 1 from deliveries as earlier
  where earlier.destination_id = deliveries.destination_id and earlier.order_key = deliveries.order_key
  and earlier.due_at is not null and earlier.seq < deliveries.seq);
drop index deliveries_due;
drop index deliveries_of_key;
-- With the column of its condition, an index can be counted without reading rows.
create index deliveries_due on deliveries (destination_id, due_at, seq, blocked) where due_at is not null and not blocked;
create index deliveries_heads on deliveries (destination_id, order_key, seq) where order_key is not null and due_at is not null and not blocked;
create index deliveries_blocked on deliveries (destination_id, order_key, seq, blocked) where blocked;

-- Earlier versions recorded attempts that an open circuit had skipped.
delete from attempts where error = 'not sent: the circuit is open after many failures';
