-- What carries the messages of a destination, and how; since when it fails, and why it was disabled.
alter table destinations add column transport text collate "C" not null default 'http';
alter table destinations add column retry_delays text collate "C";
alter table destinations add column batch_max_items integer;
alter table destinations add column batch_max_wait_ms integer;
alter table destinations add column header_names text collate "C";
alter table destinations add column template text collate "C";
alter table destinations add column disabled_reason text collate "C";
alter table destinations add column failing_since bigint;
update destinations set transport = 'smtp' where format = 'email';
