-- Search follows the events in the order of commits, so that storing one writes nothing to the queue. The queue keeps
-- what is to be indexed again, and what waits while newer events go first.
create table search_progress (
  -- The number of the last event that was indexed or queued.
  seq integer not null,
  -- What is done with the events between the former number and a new one.
  step text not null check (step in ('index', 'queue'))
) strict;
insert into search_progress (seq, step) select coalesce(max(seq), 0), 'queue' from events;
drop trigger events_queued;

create trigger search_progress_queued after update on search_progress when new.step = 'queue' begin
  insert into search_queue (event_id)
    select id from events where seq > old.seq and seq <= new.seq order by seq;
end;

-- As search_queue_indexed, but all at once, which costs half as much.
create trigger search_progress_indexed after update on search_progress when new.step = 'index' begin
  insert into event_states (position, id, created_at, delivery)
    select
      coalesce(
        (
          select max(position) + 1 from event_states
          where position >= events.created_at * 1048576 and position < (events.created_at + 1) * 1048576
        ),
        events.created_at * 1048576
      ) + row_number() over (partition by created_at order by seq) - 1,
      id,
      created_at,
      coalesce(
        (
          select status from notifications where event_id = events.id
          order by case status when 'dead' then 1 when 'retrying' then 2 when 'pending' then 3 else 4 end limit 1
        ),
        'none'
      )
    from events where seq > old.seq and seq <= new.seq
    on conflict (id) do nothing;
  insert or replace into event_words (rowid, words)
    select
      event_states.position,
      replace(
        title || ' ' || coalesce(actor, '') || ' ' || coalesce(subject, '') || ' '
          || coalesce((select group_concat(value, ' ') from json_each(data) where json_each.type in ('text', 'integer', 'real')), ''),
        '=', ' '
      )
        || ' =p' || hex(provider) || ' =t' || hex(events.type) || ' =a' || hex(status)
        || coalesce(' =s' || hex(substr(subject, 1, 60)), '')
    from events join event_states on event_states.id = events.id
    where seq > old.seq and seq <= new.seq;
end;

-- When the last indexed event is deleted, numbers up to its own can be given to new events if the clock goes back.
create trigger search_progress_reset after delete on events when old.seq = (select seq from search_progress) begin
  update search_progress set seq = coalesce((select max(seq) from events where seq < old.seq), 0);
end;

-- The follower merges segments of the index in small steps. By itself, FTS5 merges 64 pages or more in one commit.
insert into event_words (event_words, rank) values ('automerge', 0);
insert into event_words (event_words, rank) values ('usermerge', 8);
