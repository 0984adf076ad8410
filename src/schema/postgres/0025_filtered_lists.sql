-- The deliveries of a destination that failed and are tried again. One that succeeds at once never is in this index.
create index deliveries_retrying on deliveries (destination_id, created_at, id) where status = 'retrying';

-- With both filters, the index alone excludes the events of other types or providers.
drop index events_of_provider;
drop index events_of_type;
create index events_of_provider on events (provider, created_at, id, type);
create index events_of_type on events (type, created_at, id, provider);

-- A delivery often ends before the follower has indexed its event. Then it locks the row of the queue until its commit, so
-- that the event is indexed once, with the new status. Only an event that is being indexed is queued again.
create index search_queue_of_event on search_queue (event_id);
create or replace function sum_up_notifications() returns trigger language plpgsql as $$
begin
  update event_states set delivery = event_delivery(new.event_id) where id = new.event_id;
  if not found then
    perform from search_queue where event_id = new.event_id limit 1 for update skip locked;
    if not found then
      insert into search_queue (event_id) values (new.event_id);
    end if;
  end if;
  return null;
end $$;
