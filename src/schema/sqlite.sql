-- Times are whole milliseconds since the epoch, set by the program's clock.
-- Events, notifications and deliveries are listed by position, the others by keyset on (created_at, id); ids are text, so
-- that SQLite seeks on both columns.

-- Events

create table events (
  -- The order of lists and of commits. The id is made of it: the time in milliseconds, times 1,024, plus a number.
  position integer primary key,
  -- The random part of the id.
  tail integer not null,
  provider text not null,
  type text not null,
  status text not null,
  idempotency_key text not null,
  occurred_at integer not null,
  subject text,
  title text not null,
  url text,
  actor text,
  data text not null,
  headers text,
  address text,
  signed_with text,
  body_bytes integer not null,
  duplicates integer not null,
  body_hash blob,
  body blob,
  -- Whether it was read from the provider's log, because its delivery had not arrived.
  recovered integer not null default 0,
  -- What it changed in a booking, or why nothing.
  effect text,
  -- The items of a delivery with several events share one body, which the first stored one holds.
  body_of integer,
  item integer,
  items integer,
  -- How often its words changed; below zero once they are indexed again.
  changes integer not null default 0
) strict;
-- What makes an event one event: its key, and for providers that do not sign the delivery id its bytes.
create unique index events_key on events (idempotency_key);
create unique index events_body on events (provider, body_hash) where body_hash is not null;
-- With both filters, the index alone excludes the events of other types or providers.
create index events_of_provider on events (provider, position, type);
create index events_of_type on events (type, position, provider);
create index events_unaccepted on events (status, position) where status <> 'accepted';
create index events_recovered on events (provider, position) where recovered;
create index events_body_of on events (body_of, item) where body_of is not null;
create index events_changed on events (position) where changes > 0;

create table notifications (
  -- The place in the feed: that of its event, or, if it was added later, a later one. The id is made of it.
  position integer primary key,
  event integer not null,
  title text not null,
  text text not null,
  url text,
  severity text not null
) strict;
create index notifications_of_event on notifications (event);
create index notifications_of_severity on notifications (severity, position) where severity <> 'info';

-- Destinations, each with a delivery of its own of every notification it receives

create table destinations (
  -- Stands for the id in deliveries.
  number integer primary key autoincrement,
  id text not null unique,
  name text not null,
  owner_id text,
  format text not null,
  transport text not null,
  url text not null,
  filter text,
  order_by text,
  rate_per_second integer,
  max_concurrent integer not null,
  retry_delays text,
  batch_max_items integer,
  batch_max_wait_ms integer,
  header_names text,
  token_url text,
  template text,
  alerts integer not null,
  state text not null,
  disabled_reason text,
  created_at integer not null,
  updated_at integer not null,
  failures integer not null,
  failing_since integer,
  open_until integer,
  sealed blob not null
) strict;
-- Two owners may choose the same name: a user neither learns nor takes the names of others.
create unique index destinations_name on destinations (coalesce(owner_id, ''), name);
create index destinations_newest on destinations (created_at, id);
create index destinations_of_owner on destinations (owner_id, created_at, id);

create table deliveries (
  event integer not null,
  -- The order of lists, and of deliveries with an order key. That of the event, but for what was added later.
  notification integer not null,
  destination integer not null,
  owner_id text,
  order_key text,
  status text not null,
  attempt_count integer not null,
  due_at integer,
  leased_until integer,
  delivered_at integer,
  last_error text,
  -- Of the attempt that succeeded.
  started_at integer,
  duration_ms integer,
  response_status integer,
  -- Of each order key, only the first unsettled delivery is due; the others are blocked. So the cost of finding
  -- due deliveries does not depend on how many wait behind others.
  blocked integer not null default 0,
  after_dead integer not null default 0,
  primary key (event, notification, destination)
) strict, without rowid;
create index deliveries_of_destination on deliveries (destination, notification);
-- The deliveries that are not settled, of a destination and of all the operators' destinations.
create index deliveries_open on deliveries (destination, status, notification) where status <> 'delivered';
create index deliveries_state on deliveries (status, notification) where status <> 'delivered' and owner_id is null;
-- Lists of events have the order of events, which later notifications do not have.
create index deliveries_again on deliveries (destination, event) where event <> notification;
create index deliveries_open_again on deliveries (destination, status, event) where status <> 'delivered' and event <> notification;
create index deliveries_state_again on deliveries (status, event) where status <> 'delivered' and owner_id is null and event <> notification;
-- With the column of its condition, an index can be counted without reading rows.
create index deliveries_due on deliveries (destination, due_at, notification, blocked) where due_at is not null and not blocked;
create index deliveries_heads on deliveries (destination, order_key, notification) where order_key is not null and due_at is not null and not blocked;
create index deliveries_blocked on deliveries (destination, order_key, notification, blocked) where blocked;
-- The latest attempts of a destination that succeeded, for its success rate and response times.
create index deliveries_sent on deliveries (destination, started_at) where started_at is not null;

-- The attempts that failed. The one that succeeded is in the delivery.
create table failed_attempts (
  notification integer not null,
  destination integer not null,
  started_at integer not null,
  duration_ms integer not null,
  response_status integer,
  error text
) strict;
create index failed_attempts_of_notification on failed_attempts (notification, started_at);
create index failed_attempts_of_destination on failed_attempts (destination, started_at);

-- Search: the words of events

-- The rowid is the event's position. The program writes the words, folded and between spaces; the text itself is only
-- in the events. A word that starts with = stands for the exact value of a column.
create virtual table event_words using fts5 (
  words,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '='"
);
-- The follower merges segments of the index in small steps. By itself, FTS5 merges 64 pages or more in one commit.
insert into event_words (event_words, rank) values ('automerge', 0);
insert into event_words (event_words, rank) values ('usermerge', 8);

-- The words of the index, to find those with a prefix.
create virtual table event_vocabulary using fts5vocab (event_words, instance);

-- Providers

create table rejections (
  id text not null primary key,
  provider text not null,
  created_at integer not null,
  reason text not null,
  address text not null,
  request_id text not null,
  headers text not null,
  signatures text not null,
  body_bytes integer not null,
  body blob
) strict;
create index rejections_newest on rejections (created_at, id);
create index rejections_of_provider on rejections (provider, created_at, id);

-- How many deliveries came, by minute and again by hour: what charts and rules read instead of counting
-- events.
create table delivery_counts (
  -- 1 or 60.
  span_minutes integer not null,
  provider text not null,
  -- The first of the span, in whole minutes since the epoch.
  minute integer not null,
  verdict text not null,
  deliveries integer not null,
  primary key (span_minutes, provider, minute, verdict)
) strict, without rowid;
create index delivery_counts_minute on delivery_counts (span_minutes, minute);

-- When each secret of a provider last matched. `secret` tells a few secrets apart and gives none away.
create table secret_uses (
  provider text not null,
  secret text not null,
  first_matched_at integer not null,
  last_matched_at integer not null,
  primary key (provider, secret)
) strict, without rowid;

-- How far the logs of providers were compared with what arrived.
create table reconciliations (
  provider text not null primary key,
  covered_until integer,
  page text,
  run_until integer,
  next_run_at integer not null,
  paused_until integer,
  leased_by text,
  leased_until integer,
  checked_at integer,
  succeeded_at integer,
  error text,
  recovered integer not null
) strict;

-- Replays of many events. Their progress is stored with each event, so that a crash repeats none.
create table replays (
  id text not null primary key,
  created_at integer not null,
  actor text not null,
  status text not null,
  filters text not null,
  rate_per_second integer not null,
  total integer not null,
  updated_at integer not null,
  last_error text,
  resent integer not null,
  notified integer not null,
  silent integer not null,
  deleted integer not null,
  failed integer not null,
  changed integer not null,
  position_at integer,
  position_id text,
  leased_by text,
  leased_until integer
) strict;
create index replays_newest on replays (created_at, id);
-- One runs at a time.
create unique index replays_running on replays (status) where status = 'running';

-- The events that a bulk replay could not replay.
create table replay_failures (
  replay_id text not null,
  id text not null,
  created_at integer not null,
  error text not null,
  primary key (replay_id, id)
) strict, without rowid;
create index replay_failures_newest on replay_failures (replay_id, created_at, id);

-- Issues that operators do not want to see until a time.
create table mutes (
  issue_id text not null primary key,
  until integer not null
) strict;

-- Identity

create table users (
  id text not null primary key,
  name text not null,
  email text not null,
  created_at integer not null
) strict;
create unique index users_email on users (lower(email));
-- Admins search users by the beginning of the name.
create index users_name on users (lower(name));
create index users_newest on users (created_at, id);

-- Tombstones of erased users.
create table erasures (
  id text not null primary key,
  created_at integer not null
) strict;
create index erasures_newest on erasures (created_at);

-- Tokens and subjects whose access was ended.
create table revocations (
  id text not null primary key,
  created_at integer not null,
  expires_at integer not null
) strict;
create index revocations_newest on revocations (created_at);
create index revocations_expiry on revocations (expires_at);

create table clients (
  id text not null primary key,
  name text not null,
  secret_hash text not null,
  roles text not null,
  created_at integer not null
) strict;

-- Sessions of operators in the console, tokens of agents, and API keys. Only a hash is stored.
create table sessions (
  id text not null primary key,
  kind text not null,
  hash text not null,
  actor text not null,
  roles text not null,
  allowed text not null,
  address text not null,
  name text not null,
  created_at integer not null,
  expires_at integer not null,
  last_used_at integer
) strict;
create unique index sessions_hash on sessions (hash);
create index sessions_newest on sessions (created_at, id);
create index sessions_of_kind on sessions (kind, created_at, id);
create index sessions_expiry on sessions (expires_at);
-- Each sign-in counts the sessions of its actor, newest first.
create index sessions_of_actor on sessions (actor, id);

create table idempotency (
  scope text not null,
  key text not null,
  request_hash blob not null,
  resource_id text not null,
  created_at integer not null,
  expires_at integer not null,
  primary key (scope, key)
) strict, without rowid;
create index idempotency_expiry on idempotency (expires_at);

-- Who did what: operators' actions.
create table audit (
  id text not null primary key,
  created_at integer not null,
  actor text not null,
  action text not null,
  subject text not null,
  detail text
) strict;
create index audit_newest on audit (created_at, id);
create index audit_by_action on audit (action, created_at, id);
create index audit_by_actor on audit (actor, created_at, id);
create index audit_by_subject on audit (subject, created_at, id);

-- Who looked at what of a person, and why.
create table disclosures (
  id text not null primary key,
  booking_id text not null,
  actor text not null,
  reason text not null,
  created_at integer not null
) strict;
create index disclosures_of_booking on disclosures (booking_id, created_at);

-- Flights and bookings

create table flights (
  -- Not "integer primary key": that is the rowid itself, and SQLite then seeks keysets on created_at alone.
  id int not null,
  flight_number text not null,
  airline text not null,
  origin text not null,
  destination text not null,
  departure_time integer not null,
  arrival_time integer not null,
  cabin_class text not null,
  seats integer not null,
  seats_available integer not null,
  -- So many seats below zero: an import gave the flight fewer seats than were sold.
  oversold integer not null default 0,
  price_minor integer not null,
  currency text not null,
  created_at integer not null,
  -- When the airline removed the flight from sale.
  cancelled_at integer,
  -- How often the airline moved or cancelled it, and what it changed last.
  revision integer not null default 0,
  last_change text,
  -- The last line of defence against overselling, whatever a statement says.
  check (seats_available between -oversold and seats)
) strict;
create unique index flights_id on flights (id);
create unique index flights_departure on flights (flight_number, departure_time, cabin_class);
create index flights_route on flights (origin, destination, departure_time, id);
create index flights_newest on flights (created_at, id);
-- Operators look at what departs on a day.
create index flights_departing on flights (departure_time, id);

-- Events about changed flights that a server still has to notify of: imports run beside it.
create table flight_events (
  event_id text not null primary key
) strict, without rowid;

create table bookings (
  id text not null primary key,
  reference text not null,
  user_id text not null,
  flight_id integer not null,
  -- The revision of the flight when it was booked, or the booking changed to it.
  flight_revision integer not null default 0,
  status text not null,
  seats integer not null,
  total_minor integer not null,
  currency text not null,
  contact_email text not null,
  payment_method text not null,
  created_at integer not null,
  updated_at integer not null,
  cancelled_at integer,
  refund_minor integer,
  refund_percent integer,
  refund_reason text,
  -- A booking can be held until a payment confirms it.
  expires_at integer,
  confirmed_at integer,
  expired_at integer,
  -- What the booking was ever charged, and was paid of it by payment events; what is to be refunded, and was refunded; what
  -- a change made non-refundable. The checks are the last line of defence, whatever a statement says.
  charged_minor integer not null default 0 check (charged_minor >= 0),
  paid_minor integer check (paid_minor between 0 and charged_minor),
  refund_due_minor integer not null default 0 check (refund_due_minor >= 0),
  refunded_minor integer not null default 0 check (refunded_minor between 0 and charged_minor),
  kept_minor integer not null default 0 check (kept_minor >= 0 and kept_minor + refund_due_minor <= charged_minor),
  -- How many payment events are recorded. Recording one requires the number that was read.
  payment_count integer not null default 0,
  -- Each change of the price, the seats or the flight requires the number that was read.
  revision integer not null default 0
) strict;
create unique index bookings_reference on bookings (reference);
create index bookings_newest on bookings (created_at, id);
create index bookings_of_user on bookings (user_id, created_at, id);
create index bookings_of_flight on bookings (flight_id);
-- Operators look for bookings by the contact's address; a person's are all found by it.
create index bookings_of_contact on bookings (lower(contact_email), created_at, id);
-- They also work through the refunds that are due.
create index bookings_refund_due on bookings (created_at, id) where refund_due_minor > refunded_minor;

create table passengers (
  booking_id text not null,
  position integer not null,
  first_name text not null,
  last_name text not null,
  -- In folded case; null where lower() is the same.
  last_name_folded text,
  email text not null,
  sealed blob not null,
  -- When the passenger was taken out of the booking.
  cancelled_at integer,
  -- How often the passenger was corrected.
  corrections integer not null default 0,
  primary key (booking_id, position)
) strict, without rowid;
-- Admins search bookings by a passenger's last name.
create index passengers_last_name on passengers (coalesce(last_name_folded, lower(last_name)), booking_id);
create index passengers_email on passengers (lower(email));

-- Seats that are held, and when what holds them ends.
create table seat_holds (
  booking_id text not null,
  -- booking: until it is paid; change: while an offer to change it is open.
  purpose text not null,
  flight_id integer not null,
  seats integer not null check (seats >= 0),
  user_id text not null,
  expires_at integer not null,
  primary key (booking_id, purpose)
) strict, without rowid;
create index seat_holds_expiring on seat_holds (expires_at);
-- A user can have few holds on a flight.
create index seat_holds_of_user on seat_holds (flight_id, user_id);

-- Offers to change bookings, and the changes made.
create table booking_changes (
  id text not null primary key,
  booking_id text not null,
  user_id text not null,
  kind text not null,
  status text not null,
  revision integer not null,
  flight_id integer not null,
  new_flight_id integer,
  passengers text not null,
  seats integer not null,
  currency text not null,
  previous_total_minor integer not null,
  new_total_minor integer not null,
  penalty_minor integer not null,
  change_total_minor integer not null,
  kept_minor integer not null,
  percent integer not null,
  reason text not null,
  created_at integer not null,
  updated_at integer not null,
  expires_at integer not null,
  confirmed_at integer
) strict;
create index booking_changes_of_booking on booking_changes (booking_id, created_at, id);
-- A booking has one open offer at a time.
create unique index booking_changes_open on booking_changes (booking_id) where status in ('offered', 'pending');

-- What providers' events and admins said about the payment of bookings, and what came of it.
create table payments (
  event_id text not null primary key,
  booking_id text not null,
  provider text not null,
  reference text,
  amount_minor integer,
  currency text,
  amount text not null,
  outcome text not null,
  created_at integer not null,
  -- By the clock of the provider.
  occurred_at integer not null,
  -- Of a refund that an admin recorded.
  actor text,
  note text,
  -- The id of a refund that failed, or of a dispute.
  part text
) strict;
create index payments_of_booking on payments (booking_id, created_at);
create index payments_by_reference on payments (provider, reference) where reference is not null;
-- A booking is paid once for its price and once for each change; a payment pays for one of them.
create unique index payments_of_paid_booking on payments (booking_id) where outcome = 'confirmed';
create unique index payments_confirming on payments (provider, reference) where outcome in ('confirmed', 'changed');

-- Payments and refunds that name no booking, until another event says whose the payment is.
create table waiting_notices (
  event_id text not null primary key,
  provider text not null,
  reference text not null,
  notice text not null,
  created_at integer not null,
  -- When operators are notified that a payment names no booking.
  notify_at integer
) strict;
create index waiting_notices_by_reference on waiting_notices (provider, reference);
create index waiting_notices_newest on waiting_notices (created_at, event_id);
create index waiting_notices_due on waiting_notices (notify_at) where notify_at is not null;

-- How far stored events were searched for payments, for each description of where a provider has them.
create table payment_searches (
  provider text not null,
  source text not null,
  searched_until integer not null,
  primary key (provider, source)
) strict;
