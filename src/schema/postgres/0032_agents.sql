-- Tokens of agents are sessions too. A subscription of an agent is a destination with a subscriber and an end.
alter table sessions add column kind text collate "C" not null default 'console';
alter table sessions add column allowed json not null default '[]';
alter table destinations add column subscriber text collate "C";
alter table destinations add column expires_at bigint;
