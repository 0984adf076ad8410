-- Events that were read from the provider's log, because their deliveries had not arrived.
alter table events add column recovered boolean not null default false;
create index events_recovered on events (provider, created_at, id) where recovered;
