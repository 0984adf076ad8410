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

-- Operators look for bookings by the contact's address, and at what departs on a day.
create index bookings_of_contact on bookings (lower(contact_email), created_at, id);
create index flights_departing on flights (departure_time, id);
