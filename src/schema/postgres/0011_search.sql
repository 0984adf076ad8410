-- Search: the words of events, and what became of their deliveries. An event is only queued in its own
-- transaction. A follower deletes rows from the queue, and each deleted row indexes its event.
create sequence search_queue_seq;
create table search_queue (
  seq bigint not null primary key default nextval('search_queue_seq'),
  event_id text collate "C" not null
);

-- One row for each indexed event. `delivery`: the worst status of the event's notifications, or none.
create sequence event_states_position;
create table event_states (
  position bigint not null default nextval('event_states_position'),
  id text collate "C" not null primary key,
  created_at bigint not null,
  delivery text collate "C" not null
);
create unique index event_states_position_key on event_states (position);
create index event_states_delivery on event_states (delivery, created_at, id);

-- `rowid` is the event's position. A word that starts with = stands for the exact value of a column.
create table event_words (
  rowid bigint not null primary key,
  words tsvector not null
);
create index event_words_words on event_words using gin (words);

-- The text as words between spaces: lower case, without diacritics.
create function search_words(given text) returns text language plpgsql immutable as $$
begin
  if getdatabaseencoding() = 'UTF8' then
    given := regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g');
  end if;
  given := lower(given collate "default");
  -- ASCII but letters and digits, and the punctuation of other scripts.
  return regexp_replace(given, '[\u0001-\u002f\u003a-\u0060\u007b-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u2000-\u206f\u3000-\u3004\u3008-\u3020]+', ' ', 'g');
end $$;

-- Words between spaces as a tsvector. The parser of to_tsvector would split them in its own way.
create function search_vector(words text) returns tsvector language sql immutable as $$
  select coalesce(string_agg(format('%L:%s', left(word, 500), least(place, 16383)), ' '), '')::tsvector
  from regexp_split_to_table(words, '\s+') with ordinality as parts (word, place)
  where word <> ''
$$;

-- The values of a JSON object as text. It is not parsed: PostgreSQL rejects escapes such as \u0000.
create function search_values(given json) returns text language sql immutable as $$
  select regexp_replace(
    regexp_replace(
      regexp_replace(given::text, ':(true|false|null)(?=[,}])', ':', 'g'),
      '"([^"\\]|\\.)*":', ' ', 'g'
    ),
    '\\(u[0-9a-fA-F]{4}|.)', ' ', 'g'
  )
$$;

create function event_delivery(of_event text) returns text language sql stable as $$
  select coalesce(
    (
      select status from notifications where event_id = of_event
      order by case status when 'dead' then 1 when 'retrying' then 2 when 'pending' then 3 else 4 end limit 1
    ),
    'none'
  )
$$;

-- Never waits for a lock, because a group commit holds many: an event that another transaction has locked is
-- queued again. The lock on the event keeps it from being deleted until the commit.
create function index_event() returns trigger language plpgsql as $$
declare
  event events;
  place bigint;
begin
  select * into event from events where id = old.event_id for key share skip locked;
  if not found then
    insert into search_queue (event_id) select id from events where id = old.event_id;
    return null;
  end if;
  insert into event_states (id, created_at, delivery) values (event.id, event.created_at, 'none')
    on conflict (id) do nothing;
  select position into place from event_states where id = event.id for update skip locked;
  if not found then
    insert into search_queue (event_id) values (event.id);
    return null;
  end if;
  update event_states set delivery = event_delivery(event.id) where id = event.id;
  insert into event_words (rowid, words)
    values (
      place,
      search_vector(
        search_words(concat_ws(' ', event.title, event.actor, event.subject, search_values(event.data)))
        || ' =p' || encode(convert_to(event.provider, 'UTF8'), 'hex')
        || ' =t' || encode(convert_to(event.type, 'UTF8'), 'hex')
        || ' =a' || encode(convert_to(event.status, 'UTF8'), 'hex')
        || coalesce(' =s' || encode(convert_to(left(event.subject, 60), 'UTF8'), 'hex'), '')
      )
    )
    on conflict (rowid) do update set words = excluded.words;
  return null;
end $$;
create trigger search_queue_indexed after delete on search_queue
  for each row execute function index_event();

create function queue_event() returns trigger language plpgsql as $$
begin
  insert into search_queue (event_id) values (new.id);
  return null;
end $$;
create trigger events_queued after insert on events
  for each row execute function queue_event();
-- A replay changes these columns and can add notifications.
create trigger events_queued_again after update of type, status, subject, title, actor, data on events
  for each row execute function queue_event();

-- An event that is not indexed, or is being indexed from the former status, is queued again.
create function sum_up_notifications() returns trigger language plpgsql as $$
begin
  update event_states set delivery = event_delivery(new.event_id) where id = new.event_id;
  if not found then
    insert into search_queue (event_id) values (new.event_id);
  end if;
  return null;
end $$;
create trigger notifications_summed_up after update of status on notifications
  for each row when (old.status <> new.status) execute function sum_up_notifications();

create function forget_event() returns trigger language plpgsql as $$
begin
  delete from event_words where rowid in (select position from event_states where id = old.id);
  delete from event_states where id = old.id;
  return null;
end $$;
create trigger events_deleted after delete on events
  for each row execute function forget_event();

-- The follower indexes the events of earlier versions, newest first.
insert into search_queue (event_id) select id from events order by created_at, id;

-- Admins search bookings by a passenger's last name.
create index passengers_last_name on passengers (lower(last_name), booking_id);
