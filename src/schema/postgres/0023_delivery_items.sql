-- The items of a delivery with several events share one body, which the first stored one holds.
alter table events add column body_of text collate "C";
alter table events add column item integer;
alter table events add column items integer;
create index events_body_of on events (body_of, item) where body_of is not null;
