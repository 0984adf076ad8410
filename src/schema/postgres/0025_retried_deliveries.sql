-- The deliveries of a destination that failed and are tried again. One that succeeds at once never is in this index.
create index deliveries_retrying on deliveries (destination_id, created_at, id) where status = 'retrying';
