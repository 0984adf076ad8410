-- What carries the messages of a destination, and how; since when it fails, and why it was disabled.
alter table destinations add column transport text not null default 'http';
alter table destinations add column retry_delays text;
alter table destinations add column batch_max_items integer;
alter table destinations add column batch_max_wait_ms integer;
alter table destinations add column header_names text;
alter table destinations add column template text;
alter table destinations add column disabled_reason text;
alter table destinations add column failing_since integer;
update destinations set transport = 'smtp' where format = 'email';
