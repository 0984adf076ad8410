-- Times are whole milliseconds since the epoch, set by the program's clock: the same numbers as in
-- SQLite, so that a copy is equal and a cursor stays valid.
-- Text is compared byte by byte (collate "C"), whatever the database's own order is.
-- JSON columns keep the text as it was sent: jsonb refuses "\u0000" and forgets the order of keys.

-- Events

create sequence events_position;

-- The key of an advisory lock that announces events after a time: 21 bits that tell this schema from others in the
-- database, and 42 of the time in milliseconds.
create function position_lock(of_position bigint) returns bigint language sql stable as $$
  select (('events_position'::regclass::oid::bigint & 2097151) << 42) | (of_position >> 10)
$$;

-- Reserves positions for so many events, received at these times in ascending order, and returns the first. Transactions
-- end in any order. So that a reader can know below which position nothing more will appear, a transaction announces its
-- own until it ends, before anyone can see that they are reserved.
create function reserve_positions(events integer, times bigint[]) returns bigint language plpgsql as $$
declare
  turn bigint := position_lock(0);
  before bigint;
  first bigint;
  last bigint;
begin
  perform pg_advisory_lock(turn);
  select last_value, greatest(last_value + 1, times[1] * 1024) into before, first from events_position;
  last := greatest(first, times[cardinality(times)] * 1024) + events - 1;
  perform make_week(week)
    from (
      select distinct week_of(greatest(first, ms * 1024) + number) as week
      from unnest(times) as ms, unnest(array[0, events - 1]) as number
    ) as needed
    where not has_week(week);
  if generation_of(before) <> generation_of(last) then
    perform begin_generation(turn, generation_of(first) <> generation_of(last));
  end if;
  perform pg_advisory_xact_lock_shared(position_lock(first));
  perform setval('events_position', last);
  perform pg_advisory_unlock(turn);
  return first;
exception when query_canceled or others then
  perform pg_advisory_unlock(turn);
  raise;
end $$;

-- The announced positions of open transactions, in whole milliseconds.
create view announced_positions as
  select (key & 4398046511103) * 1024 as position, key as lock
  from (
    select (classid::bigint << 32) | objid::bigint as key from pg_locks
    where locktype = 'advisory' and objsubid = 1 and mode = 'ShareLock'
      and database = (select oid from pg_database where datname = current_database())
  ) as locks
  where key >> 42 = 'events_position'::regclass::oid::bigint & 2097151;

-- The position up to which every event is committed or will never be. Rows must be read by a later statement, whose
-- snapshot then holds all of them.
create function settled_position() returns bigint language plpgsql volatile as $$
declare
  given bigint;
  announced bigint;
begin
  select last_value into given from events_position;
  select min(position) into announced from announced_positions;
  return least(given, announced - 1);
end $$;

create table events (
  -- The order of lists and of commits. The id is made of it: the time in milliseconds, times 1,024, plus a number.
  position bigint not null primary key,
  -- The random part of the id.
  tail bigint not null,
  provider text collate "C" not null,
  type text collate "C" not null,
  status text collate "C" not null,
  idempotency_key text collate "C" not null,
  occurred_at bigint not null,
  subject text collate "C",
  title text collate "C" not null,
  url text collate "C",
  actor text collate "C",
  data json not null,
  headers json,
  address text collate "C",
  signed_with text collate "C",
  body_bytes integer not null,
  duplicates integer not null,
  body_hash bytea,
  body bytea,
  -- Whether it was read from the provider's log, because its delivery had not arrived.
  recovered boolean not null default false,
  -- What it changed in a booking, or why nothing.
  effect text collate "C",
  -- The items of a delivery with several events share one body, which the first stored one holds.
  body_of bigint,
  item integer,
  items integer,
  -- How often its words changed; below zero once they are indexed again.
  changes integer not null default 0
) partition by range (position);
-- With both filters, the index alone excludes the events of other types or providers.
create index events_of_provider on events (provider, position, type);
create index events_of_type on events (type, position, provider);
create index events_unaccepted on events (status, position) where status <> 'accepted';
create index events_recovered on events (provider, position) where recovered;
create index events_body_of on events (body_of, item) where body_of is not null;
create index events_changed on events (position) where changes > 0;

-- What makes an event one event: its key, and for providers that do not sign the delivery id its bytes. A unique index of
-- a partitioned table would have to contain the position, so keys have tables of their own: one for each generation of 13
-- weeks, which is dropped when all of its events are.
create table event_keys (
  key bytea not null,
  generation integer not null,
  position bigint not null,
  primary key (key, generation)
) partition by list (generation);

-- The number of a position's week. The first one began with the epoch, on a Thursday.
create function week_of(of_position bigint) returns integer language sql immutable as $$
  select (of_position / 619315200000)::integer
$$;
create function first_position(of_week integer) returns bigint language sql immutable as $$
  select of_week * 619315200000
$$;
create function generation_of(of_position bigint) returns integer language sql immutable as $$
  select week_of(of_position) / 13
$$;
-- The key for an idempotency key, and that for the bytes of a provider's request. Text contains no NUL.
create function event_key(idempotency_key text) returns bytea language sql stable as $$
  select substring(sha256(convert_to(idempotency_key, 'UTF8')) for 16)
$$;
create function event_key(provider text, body_hash bytea) returns bytea language sql stable as $$
  select substring(sha256(convert_to(provider, 'UTF8') || '\x00' || body_hash) for 16)
$$;

-- Whether there is an event at a position now, even if it was committed after the calling statement began.
create function is_event(at bigint) returns boolean language plpgsql volatile as $$
begin
  return exists (select from events where position = at);
end $$;

-- Takes keys for the event at a position. Returns false if another event has one of them. A key whose event was deleted is
-- free.
-- A plan for each call, which reads fewer partitions, would take longer than the call.
create function take_keys(at bigint, keys bytea[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  own integer := generation_of(at);
  taken integer;
begin
  if exists (select from event_keys where key = any (keys) and generation <> own and is_event(position)) then
    return false;
  end if;
  insert into event_keys (key, generation, position) select unnest(keys), own, at on conflict do nothing;
  get diagnostics taken = row_count;
  if taken = cardinality(keys) then return true; end if;
  -- Nothing but this update takes over a key, and it costs more.
  insert into event_keys (key, generation, position) select unnest(keys), own, at
    on conflict (key, generation) do update set position = excluded.position where not is_event(event_keys.position);
  get diagnostics taken = row_count;
  if taken = cardinality(keys) then return true; end if;
  delete from event_keys where key = any (keys) and generation = own and position = at;
  return false;
end $$;

-- Waits for the transactions that may store keys in earlier generations: a later one looks for those keys only once. A
-- transaction that begins in one generation and ends in the next lets the others wait for it.
create function begin_generation(turn bigint, is_crossing boolean) returns void language plpgsql as $$
declare
  announced bigint;
begin
  for announced in select lock from announced_positions loop
    perform pg_advisory_lock(announced);
    perform pg_advisory_unlock(announced);
  end loop;
  if is_crossing then perform pg_advisory_xact_lock(turn); end if;
end $$;

create table notifications (
  -- The place in the feed: that of its event, or, if it was added later, a later one. The id is made of it.
  position bigint not null primary key,
  event bigint not null,
  title text collate "C" not null,
  text text collate "C" not null,
  url text collate "C",
  severity text collate "C" not null
);
create index notifications_of_event on notifications (event);
create index notifications_of_severity on notifications (severity, position) where severity <> 'info';

-- Destinations, each with a delivery of its own of every notification it receives

create sequence destinations_number;
create table destinations (
  -- Stands for the id in deliveries.
  number bigint not null primary key default nextval('destinations_number'),
  id text collate "C" not null unique,
  name text collate "C" not null,
  owner_id text collate "C",
  format text collate "C" not null,
  transport text collate "C" not null,
  url text collate "C" not null,
  filter text collate "C",
  order_by text collate "C",
  rate_per_second integer,
  max_concurrent integer not null,
  retry_delays text collate "C",
  batch_max_items integer,
  batch_max_wait_ms integer,
  header_names text collate "C",
  token_url text collate "C",
  template text collate "C",
  alerts boolean not null,
  state text collate "C" not null,
  disabled_reason text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  failures integer not null,
  failing_since bigint,
  open_until bigint,
  sealed bytea not null
);
-- Two owners may choose the same name: a user neither learns nor takes the names of others.
create unique index destinations_name on destinations (coalesce(owner_id, ''), name);
create index destinations_newest on destinations (created_at, id);
create index destinations_of_owner on destinations (owner_id, created_at, id);

-- Room in each page for the next version of its rows: a lease changes no index, so it then stays in its page and adds
-- no entry to any index (postgresql.org/docs/current/storage-hot.html).
create table deliveries (
  event bigint not null,
  -- The order of lists, and of deliveries with an order key. That of the event, but for what was added later.
  notification bigint not null,
  destination bigint not null,
  owner_id text collate "C",
  order_key text collate "C",
  status text collate "C" not null,
  attempt_count integer not null,
  due_at bigint,
  leased_until bigint,
  delivered_at bigint,
  last_error text collate "C",
  -- Of the attempt that succeeded.
  started_at bigint,
  duration_ms integer,
  response_status integer,
  -- Of each order key, only the first unsettled delivery is due; the others are blocked. So the cost of finding
  -- due deliveries does not depend on how many wait behind others.
  blocked boolean not null default false,
  after_dead boolean not null default false,
  primary key (event, notification, destination)
) with (fillfactor = 70);
create index deliveries_of_destination on deliveries (destination, notification);
-- The deliveries that are not settled, of a destination and of all the operators' destinations.
create index deliveries_open on deliveries (destination, status, notification) where status <> 'delivered';
create index deliveries_state on deliveries (status, notification) where status <> 'delivered' and owner_id is null;
-- Lists of events have the order of events, which later notifications do not have.
create index deliveries_again on deliveries (destination, event) where event <> notification;
create index deliveries_open_again on deliveries (destination, status, event) where status <> 'delivered' and event <> notification;
create index deliveries_state_again on deliveries (status, event) where status <> 'delivered' and owner_id is null and event <> notification;
create index deliveries_due on deliveries (destination, due_at, notification) where due_at is not null and not blocked;
create index deliveries_heads on deliveries (destination, order_key, notification) where order_key is not null and due_at is not null and not blocked;
create index deliveries_blocked on deliveries (destination, order_key, notification) where blocked;
-- The latest attempts of a destination that succeeded, for its success rate and response times.
create index deliveries_sent on deliveries (destination, started_at) where started_at is not null;

-- The attempts that failed. The one that succeeded is in the delivery.
create table failed_attempts (
  notification bigint not null,
  destination bigint not null,
  started_at bigint not null,
  duration_ms integer not null,
  response_status integer,
  error text collate "C"
);
create index failed_attempts_of_notification on failed_attempts (notification, started_at);
create index failed_attempts_of_destination on failed_attempts (destination, started_at);

-- Search: the words of events

-- `rowid` is the event's position. A word that starts with = stands for the exact value of a column.
create table event_words (
  rowid bigint not null primary key,
  words tsvector not null
) partition by range (rowid);
create index event_words_words on event_words using gin (words);

-- Weeks: events and their words are stored in a partition for each, so that retention drops old ones as a whole

-- A partition is named after the first day of its week.
create function name_of_week(parent text, week integer) returns text language sql stable as $$
  select parent || '_' || to_char(date '1970-01-01' + 7 * week, 'YYYYMMDD')
$$;
create function has_partition(parent text, name text) returns boolean language sql stable as $$
  select exists (select from pg_inherits where inhparent = parent::regclass and inhrelid = to_regclass(name))
$$;
create function has_week(week integer) returns boolean language sql stable as $$
  select has_partition('events', name_of_week('events', week))
    and has_partition('event_keys', 'event_keys_' || generation_of(first_position(week)))
$$;

-- Adds a partition to a table, unless it exists. Attaching an own table, unlike making it as a partition, does not make
-- others wait.
create function add_partition(parent text, name text, bounds text) returns void language plpgsql as $$
begin
  if has_partition(parent, name) then return; end if;
  execute format('create table %I (like %I including defaults including constraints including storage)', name, parent);
  execute format('alter table %I attach partition %I for values %s', parent, name, bounds);
exception when duplicate_table or wrong_object_type or invalid_object_definition then
  raise exception 'cannot create the partition % of % (%): rename or drop what is in its place', name, parent, sqlerrm
    using errcode = 'object_not_in_prerequisite_state';
end $$;

-- Makes the partitions of a week, unless they exist. Runs as the owner of the tables, as all functions that change them do.
create function make_week(week integer) returns void language plpgsql security definer as $$
declare
  generation integer := generation_of(first_position(week));
  bounds text := format('from (%s) to (%s)', first_position(week), first_position(week + 1));
begin
  -- Another instance may be making them.
  perform pg_advisory_xact_lock(position_lock(1024));
  perform add_partition(parent, name_of_week(parent, week), bounds) from unnest(array['events', 'event_words']) as parent;
  perform add_partition('event_keys', 'event_keys_' || generation, format('in (%s)', generation));
end $$;

-- Retention empties the partition of a week and then drops it. What must be kept is stored again, in the same transaction.

-- The newest week that was deleted.
create table last_sweep (
  week integer not null,
  swept_at bigint not null,
  kept integer not null
);

create function event_weeks() returns setof integer language sql stable as $$
  select (to_date(right(relname, 8), 'YYYYMMDD') - date '1970-01-01') / 7
  from pg_inherits join pg_class on oid = inhrelid where inhparent = 'events'::regclass
$$;

-- The positions of the events of a week that are kept: those that still have notifications, and those whose body one of
-- these or an event of a later week needs. With more than `most` notifications, not all of them.
create function kept_events(week integer, most integer) returns setof bigint language sql stable as $$
  with noted as (
    select distinct event as position from notifications
    where event >= first_position(week) and event < first_position(week + 1) limit most + 1
  )
  select position from noted
  union
  select body_of from events where position in (select position from noted) and body_of >= first_position(week)
  union
  select body_of from events
  where position >= first_position(week + 1) and body_of >= first_position(week) and body_of < first_position(week + 1)
$$;

-- Deletes the events of a week, with their words, except those that are kept. Returns how many these are, and whether others
-- were deleted: none are if too many would be stored again. Returns no row if others use the week: readers and writers wait
-- behind the lock that it waits for, so it gives up soon.
create function sweep_week(week integer, most integer, now_ms bigint) returns table (kept integer, swept boolean)
language plpgsql security definer set lock_timeout = '100ms' as $$
declare
  positions bigint[] := array(select kept_events(week, most));
  rows events[];
  words event_words[];
begin
  kept := cardinality(positions);
  execute format('select exists (select from %I where position <> all ($1))', name_of_week('events', week))
    into swept using positions;
  swept := swept and kept <= most;
  if not swept then
    return next;
    return;
  end if;
  execute format('lock table %I, %I in access exclusive mode', name_of_week('events', week), name_of_week('event_words', week));
  -- Those that became undelivered until now.
  positions := array(select kept_events(week, most));
  kept := cardinality(positions);
  if kept > most then
    swept := false;
    return next;
    return;
  end if;
  rows := array(select each from events as each where position = any (positions));
  words := array(select each from event_words as each where rowid = any (positions));
  execute format('truncate %I, %I', name_of_week('events', week), name_of_week('event_words', week));
  insert into events select (each).* from unnest(rows) as each;
  insert into event_words select (each).* from unnest(words) as each;
  if not exists (select from last_sweep as last where last.week > sweep_week.week) then
    delete from last_sweep;
    insert into last_sweep values (week, now_ms, kept);
  end if;
  return next;
exception when lock_not_available then
  return;
end $$;

-- Drops the partition of a week without events, unless it is in use or may soon be. Returns whether it did.
create function drop_week(week integer) returns boolean language plpgsql security definer set lock_timeout = '100ms' as $$
declare
  is_used boolean;
begin
  -- No instance reserves positions before this transaction ends.
  perform pg_advisory_xact_lock(position_lock(0));
  lock table only events, only event_words in access exclusive mode;
  execute format('select exists (select from %I)', name_of_week('events', week)) into is_used;
  if is_used or exists (select from announced_positions where position < first_position(week + 1)) then
    return false;
  end if;
  execute format('drop table %I, %I', name_of_week('events', week), name_of_week('event_words', week));
  return true;
exception when lock_not_available then
  return false;
end $$;

-- Drops the generations of keys whose weeks are dropped.
create function drop_generations() returns void language plpgsql security definer set lock_timeout = '100ms' as $$
declare
  partition text;
begin
  -- No instance makes a week before this transaction ends.
  perform pg_advisory_xact_lock(position_lock(0));
  perform pg_advisory_xact_lock(position_lock(1024));
  for partition in
    select relname from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'event_keys'::regclass
    and substring(relname from '\d+$')::integer < (
      select least(generation_of(first_position(min(week))), (select generation_of(last_value) from events_position))
      from event_weeks() as week
    )
  loop
    execute format('drop table %I', partition);
  end loop;
exception when lock_not_available then
  return;
end $$;

-- The functions that run as the owner use nothing that another role can put in the way, and no other role may run them
-- unless it is granted.
do $$
declare
  owners regprocedure;
begin
  for owners in select oid from pg_proc where prosecdef and pronamespace = current_schema()::regnamespace loop
    execute format('alter function %s set search_path = %I, pg_temp', owners, current_schema());
    execute format('revoke execute on function %s from public', owners);
  end loop;
end $$;

-- Providers

create table rejections (
  id text collate "C" not null primary key,
  provider text collate "C" not null,
  created_at bigint not null,
  reason text collate "C" not null,
  address text collate "C" not null,
  request_id text collate "C" not null,
  headers json not null,
  signatures json not null,
  body_bytes integer not null,
  body bytea
);
create index rejections_newest on rejections (created_at, id);
create index rejections_of_provider on rejections (provider, created_at, id);

-- How many deliveries came, by minute and again by hour: what charts and rules read instead of counting
-- events.
create table delivery_counts (
  -- 1 or 60.
  span_minutes integer not null,
  provider text collate "C" not null,
  -- The first of the span, in whole minutes since the epoch.
  minute integer not null,
  verdict text collate "C" not null,
  deliveries bigint not null,
  primary key (span_minutes, provider, minute, verdict)
);
create index delivery_counts_minute on delivery_counts (span_minutes, minute);

-- When each secret of a provider last matched. `secret` tells a few secrets apart and gives none away.
create table secret_uses (
  provider text collate "C" not null,
  secret text collate "C" not null,
  first_matched_at bigint not null,
  last_matched_at bigint not null,
  primary key (provider, secret)
);

-- How far the logs of providers were compared with what arrived.
create table reconciliations (
  provider text collate "C" not null primary key,
  covered_until bigint,
  page text collate "C",
  run_until bigint,
  next_run_at bigint not null,
  paused_until bigint,
  leased_by text collate "C",
  leased_until bigint,
  checked_at bigint,
  succeeded_at bigint,
  error text collate "C",
  recovered bigint not null
);

-- Replays of many events. Their progress is stored with each event, so that a crash repeats none.
create table replays (
  id text collate "C" not null primary key,
  created_at bigint not null,
  actor text collate "C" not null,
  status text collate "C" not null,
  filters json not null,
  rate_per_second integer not null,
  total integer not null,
  updated_at bigint not null,
  last_error text collate "C",
  resent integer not null,
  notified integer not null,
  silent integer not null,
  deleted integer not null,
  failed integer not null,
  changed integer not null,
  position_at bigint,
  position_id text collate "C",
  leased_by text collate "C",
  leased_until bigint
);
create index replays_newest on replays (created_at, id);
-- One runs at a time.
create unique index replays_running on replays (status) where status = 'running';

-- The events that a bulk replay could not replay.
create table replay_failures (
  replay_id text collate "C" not null,
  id text collate "C" not null,
  created_at bigint not null,
  error text collate "C" not null,
  primary key (replay_id, id)
);
create index replay_failures_newest on replay_failures (replay_id, created_at, id);

-- Issues that operators do not want to see until a time.
create table mutes (
  issue_id text collate "C" not null primary key,
  until bigint not null
);

-- Identity

create table users (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  email text collate "C" not null,
  created_at bigint not null
);
create unique index users_email on users (lower(email));
-- Admins search users by the beginning of the name.
create index users_name on users (lower(name));
create index users_newest on users (created_at, id);

-- Tombstones of erased users.
create table erasures (
  id text collate "C" not null primary key,
  created_at bigint not null
);
create index erasures_newest on erasures (created_at);

-- Tokens and subjects whose access was ended.
create table revocations (
  id text collate "C" not null primary key,
  created_at bigint not null,
  expires_at bigint not null
);
create index revocations_newest on revocations (created_at);
create index revocations_expiry on revocations (expires_at);

create table clients (
  id text collate "C" not null primary key,
  name text collate "C" not null,
  secret_hash text collate "C" not null,
  roles json not null,
  created_at bigint not null
);

-- Sessions of operators in the console, tokens of agents, and API keys. Only a hash is stored.
create table sessions (
  id text collate "C" not null primary key,
  kind text collate "C" not null,
  hash text collate "C" not null,
  actor text collate "C" not null,
  roles json not null,
  allowed json not null,
  address text collate "C" not null,
  name text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  last_used_at bigint
);
create unique index sessions_hash on sessions (hash);
create index sessions_newest on sessions (created_at, id);
create index sessions_of_kind on sessions (kind, created_at, id);
create index sessions_expiry on sessions (expires_at);
-- Each sign-in counts the sessions of its actor, newest first.
create index sessions_of_actor on sessions (actor, id);

create table idempotency (
  scope text collate "C" not null,
  key text collate "C" not null,
  request_hash bytea not null,
  resource_id text collate "C" not null,
  created_at bigint not null,
  expires_at bigint not null,
  primary key (scope, key)
);
create index idempotency_expiry on idempotency (expires_at);

-- Who did what: operators' actions.
create table audit (
  id text collate "C" not null primary key,
  created_at bigint not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  subject text collate "C" not null,
  detail text collate "C"
);
create index audit_newest on audit (created_at, id);
create index audit_by_action on audit (action, created_at, id);
create index audit_by_actor on audit (actor, created_at, id);
create index audit_by_subject on audit (subject, created_at, id);

-- Who looked at what of a person, and why.
create table disclosures (
  id text collate "C" not null primary key,
  booking_id text collate "C" not null,
  actor text collate "C" not null,
  reason text collate "C" not null,
  created_at bigint not null
);
create index disclosures_of_booking on disclosures (booking_id, created_at);

-- Flights and bookings

create sequence flights_id;
create table flights (
  id integer not null,
  flight_number text collate "C" not null,
  airline text collate "C" not null,
  origin text collate "C" not null,
  destination text collate "C" not null,
  departure_time bigint not null,
  arrival_time bigint not null,
  cabin_class text collate "C" not null,
  seats integer not null,
  seats_available integer not null,
  -- So many seats below zero: an import gave the flight fewer seats than were sold.
  oversold integer not null default 0,
  price_minor bigint not null,
  currency text collate "C" not null,
  created_at bigint not null,
  -- When the airline removed the flight from sale.
  cancelled_at bigint,
  -- How often the airline moved or cancelled it, and what it changed last.
  revision integer not null default 0,
  last_change json,
  -- The last line of defence against overselling, whatever a statement says.
  check (seats_available between -oversold and seats)
);
create unique index flights_id_key on flights (id);
create unique index flights_departure on flights (flight_number, departure_time, cabin_class);
create index flights_route on flights (origin, destination, departure_time, id);
create index flights_newest on flights (created_at, id);
-- Operators look at what departs on a day.
create index flights_departing on flights (departure_time, id);

-- Events about changed flights that a server still has to notify of: imports run beside it.
create table flight_events (
  event_id text collate "C" not null primary key
);

create table bookings (
  id text collate "C" not null primary key,
  reference text collate "C" not null,
  user_id text collate "C" not null,
  flight_id integer not null,
  -- The revision of the flight when it was booked, or the booking changed to it.
  flight_revision integer not null default 0,
  status text collate "C" not null,
  seats integer not null,
  total_minor bigint not null,
  currency text collate "C" not null,
  contact_email text collate "C" not null,
  payment_method text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  cancelled_at bigint,
  refund_minor bigint,
  refund_percent integer,
  refund_reason text collate "C",
  -- A booking can be held until a payment confirms it.
  expires_at bigint,
  confirmed_at bigint,
  expired_at bigint,
  -- What the booking was ever charged, and was paid of it by payment events; what is to be refunded, and was refunded; what
  -- a change made non-refundable. The checks are the last line of defence, whatever a statement says.
  charged_minor bigint not null default 0 check (charged_minor >= 0),
  paid_minor bigint check (paid_minor between 0 and charged_minor),
  refund_due_minor bigint not null default 0 check (refund_due_minor >= 0),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and charged_minor),
  kept_minor bigint not null default 0 check (kept_minor >= 0 and kept_minor + refund_due_minor <= charged_minor),
  -- How many payment events are recorded. Recording one requires the number that was read.
  payment_count integer not null default 0,
  -- Each change of the price, the seats or the flight requires the number that was read.
  revision integer not null default 0
);
create unique index bookings_reference on bookings (reference);
create index bookings_newest on bookings (created_at, id);
create index bookings_of_user on bookings (user_id, created_at, id);
create index bookings_of_flight on bookings (flight_id);
-- Operators look for bookings by the contact's address; a person's are all found by it.
create index bookings_of_contact on bookings (lower(contact_email), created_at, id);
-- They also work through the refunds that are due.
create index bookings_refund_due on bookings (created_at, id) where refund_due_minor > refunded_minor;

create table passengers (
  booking_id text collate "C" not null,
  position integer not null,
  first_name text collate "C" not null,
  last_name text collate "C" not null,
  -- In folded case; null where lower() is the same.
  last_name_folded text collate "C",
  email text collate "C" not null,
  sealed bytea not null,
  -- When the passenger was taken out of the booking.
  cancelled_at bigint,
  -- How often the passenger was corrected.
  corrections integer not null default 0,
  primary key (booking_id, position)
);
-- Admins search bookings by a passenger's last name.
create index passengers_last_name on passengers (coalesce(last_name_folded, lower(last_name)), booking_id);
create index passengers_email on passengers (lower(email));

-- Seats that are held, and when what holds them ends.
create table seat_holds (
  booking_id text collate "C" not null,
  -- booking: until it is paid; change: while an offer to change it is open.
  purpose text collate "C" not null,
  flight_id integer not null,
  seats integer not null check (seats >= 0),
  user_id text collate "C" not null,
  expires_at bigint not null,
  primary key (booking_id, purpose)
);
create index seat_holds_expiring on seat_holds (expires_at);
-- A user can have few holds on a flight.
create index seat_holds_of_user on seat_holds (flight_id, user_id);

-- Offers to change bookings, and the changes made.
create table booking_changes (
  id text collate "C" not null primary key,
  booking_id text collate "C" not null,
  user_id text collate "C" not null,
  kind text collate "C" not null,
  status text collate "C" not null,
  revision integer not null,
  flight_id integer not null,
  new_flight_id integer,
  passengers json not null,
  seats integer not null,
  currency text collate "C" not null,
  previous_total_minor bigint not null,
  new_total_minor bigint not null,
  penalty_minor bigint not null,
  change_total_minor bigint not null,
  kept_minor bigint not null,
  percent integer not null,
  reason text collate "C" not null,
  created_at bigint not null,
  updated_at bigint not null,
  expires_at bigint not null,
  confirmed_at bigint
);
create index booking_changes_of_booking on booking_changes (booking_id, created_at, id);
-- A booking has one open offer at a time.
create unique index booking_changes_open on booking_changes (booking_id) where status in ('offered', 'pending');

-- What providers' events and admins said about the payment of bookings, and what came of it.
create table payments (
  event_id text collate "C" not null primary key,
  booking_id text collate "C" not null,
  provider text collate "C" not null,
  reference text collate "C",
  amount_minor bigint,
  currency text collate "C",
  amount text collate "C" not null,
  outcome text collate "C" not null,
  created_at bigint not null,
  -- By the clock of the provider.
  occurred_at bigint not null,
  -- Of a refund that an admin recorded.
  actor text collate "C",
  note text collate "C",
  -- The id of a refund that failed, or of a dispute.
  part text collate "C"
);
create index payments_of_booking on payments (booking_id, created_at);
create index payments_by_reference on payments (provider, reference) where reference is not null;
-- A booking is paid once for its price and once for each change; a payment pays for one of them.
create unique index payments_of_paid_booking on payments (booking_id) where outcome = 'confirmed';
create unique index payments_confirming on payments (provider, reference) where outcome in ('confirmed', 'changed');

-- Payments and refunds that name no booking, until another event says whose the payment is.
create table waiting_notices (
  event_id text collate "C" not null primary key,
  provider text collate "C" not null,
  reference text collate "C" not null,
  notice json not null,
  created_at bigint not null,
  -- When operators are notified that a payment names no booking.
  notify_at bigint
);
create index waiting_notices_by_reference on waiting_notices (provider, reference);
create index waiting_notices_newest on waiting_notices (created_at, event_id);
create index waiting_notices_due on waiting_notices (notify_at) where notify_at is not null;

-- How far stored events were searched for payments, for each description of where a provider has them.
create table payment_searches (
  provider text collate "C" not null,
  source text collate "C" not null,
  searched_until bigint not null,
  primary key (provider, source)
);
