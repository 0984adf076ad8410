-- The deliveries of a destination that failed and are tried again. One that succeeds at once never is in this index.
create index deliveries_retrying on deliveries (destination_id, created_at, id) where status = 'retrying';

-- With both filters, the index alone excludes the events of other types or providers.
drop index events_of_provider;
drop index events_of_type;
create index events_of_provider on events (provider, created_at, id, type);
create index events_of_type on events (type, created_at, id, provider);
