-- Admins record refunds that no provider reports.
alter table payments add column actor text;
alter table payments add column note text;
