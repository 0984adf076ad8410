-- Admins record refunds that no provider reports.
alter table payments add column actor text collate "C";
alter table payments add column note text collate "C";
