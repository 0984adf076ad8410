-- Events that were read from the provider's log, because their deliveries had not arrived.
alter table events add column recovered integer not null default 0;
create index events_recovered on events (provider, created_at, id) where recovered;
