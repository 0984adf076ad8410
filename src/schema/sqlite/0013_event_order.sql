-- The order of commits, which followers read. Events stored before have no number.
alter table events add column seq integer;
create unique index events_seq_key on events (seq);
