-- The events that were sent to a destination, in the order of their ids, which is the order of receipt. The second index
-- has only what is not delivered, so it stays small.
create index deliveries_events on deliveries (destination_id, event_id);
create index deliveries_undelivered on deliveries (destination_id, status, event_id) where status <> 'delivered';
