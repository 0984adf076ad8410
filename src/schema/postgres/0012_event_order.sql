-- The order of commits, which followers read. Events stored before have no number.
create sequence events_seq;

-- As for notifications: a transaction announces the newest number given out before its first one.
create function next_event_seq() returns bigint language plpgsql as $$
declare given bigint;
begin
  if coalesce(current_setting('skyhook.event_seq_announced', true), '') = '' then
    select case when is_called then last_value else last_value - 1 end into given from events_seq;
    perform pg_advisory_xact_lock_shared('events_seq'::regclass::oid::int4, (given & 2147483647)::int4);
    perform set_config('skyhook.event_seq_announced', 'yes', true);
  end if;
  return nextval('events_seq');
end $$;

create function settled_event_seq() returns bigint language plpgsql volatile as $$
declare
  given bigint;
  announced bigint;
begin
  select case when is_called then last_value else last_value - 1 end into given from events_seq;
  select min(given - ((given - objid::bigint) & 2147483647)) into announced
    from pg_locks
    where locktype = 'advisory' and objsubid = 2
      and classid = 'events_seq'::regclass::oid
      and database = (select oid from pg_database where datname = current_database());
  return least(given, announced);
end $$;

alter table events add column seq bigint;
create unique index events_seq_key on events (seq);
