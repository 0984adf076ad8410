-- Search: the words of events, and what became of their deliveries. An event is only queued in its own
-- transaction, because indexing it there would triple the work of the commit. A follower deletes rows from the
-- queue, and each deleted row indexes its event (search_queue_indexed).
create table search_queue (
  seq integer primary key,
  event_id text not null
) strict;

-- One row for each indexed event. `position` orders them like their list: the time in milliseconds, then 20 bits
-- that are unique within it. `delivery`: the worst status of the event's notifications, or none.
create table event_states (
  position integer primary key,
  id text not null,
  created_at integer not null,
  delivery text not null
) strict;
create unique index event_states_id on event_states (id);
create index event_states_delivery on event_states (delivery, created_at, id);

-- The rowid is the event's position. The text itself is only in the events. A word that starts with = stands for
-- the exact value of a column.
create virtual table event_words using fts5 (
  words,
  content = '',
  contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 2 tokenchars '='"
);

-- The words of the index, to find those with a prefix.
create virtual table event_vocabulary using fts5vocab (event_words, instance);

create trigger events_queued after insert on events begin
  insert into search_queue (event_id) values (new.id);
end;

-- A replay changes these columns and can add notifications.
create trigger events_queued_again after update of type, status, subject, title, actor, data on events begin
  insert into search_queue (event_id) values (new.id);
end;

create trigger search_queue_indexed after delete on search_queue begin
  insert into event_states (position, id, created_at, delivery)
    select
      coalesce(
        (
          select max(position) + 1 from event_states
          where position >= events.created_at * 1048576 and position < (events.created_at + 1) * 1048576
        ),
        events.created_at * 1048576
      ),
      id, created_at, 'none'
    from events where id = old.event_id
    on conflict (id) do nothing;
  update event_states set delivery = coalesce(
    (
      select status from notifications where event_id = old.event_id
      order by case status when 'dead' then 1 when 'retrying' then 2 when 'pending' then 3 else 4 end limit 1
    ),
    'none'
  ) where id = old.event_id;
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
    where events.id = old.event_id;
end;

create trigger notifications_summed_up after update of status on notifications when old.status <> new.status begin
  update event_states set delivery = coalesce(
    (
      select status from notifications where event_id = new.event_id
      order by case status when 'dead' then 1 when 'retrying' then 2 when 'pending' then 3 else 4 end limit 1
    ),
    'none'
  ) where id = new.event_id;
end;

create trigger events_deleted after delete on events begin
  delete from event_words where rowid = (select position from event_states where id = old.id);
  delete from event_states where id = old.id;
end;

-- The follower indexes the events of earlier versions, newest first.
insert into search_queue (event_id) select id from events order by created_at, id;

-- Admins search bookings by a passenger's last name.
create index passengers_last_name on passengers (lower(last_name), booking_id);
