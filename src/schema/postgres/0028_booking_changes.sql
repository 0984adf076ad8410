-- A booking's price can change, and be paid in several payments.
alter table bookings drop constraint bookings_check;
alter table bookings drop constraint bookings_check1;
-- What the booking was ever charged, and was paid of it by payment events; what is to be refunded, and was refunded; what
-- a change made non-refundable. The checks are the last line of defence, whatever a statement says.
alter table bookings add column charged_minor bigint not null default 0 check (charged_minor >= 0);
alter table bookings add column refund_due_minor bigint not null default 0 check (refund_due_minor >= 0);
alter table bookings add column kept_minor bigint not null default 0
  check (kept_minor >= 0 and kept_minor + refund_due_minor <= charged_minor);
-- Each change of the price, the seats or the flight requires the number that was read.
alter table bookings add column revision integer not null default 0;
update bookings set
  charged_minor = case when confirmed_at is null then 0 else total_minor end,
  refund_due_minor = coalesce(refund_minor, 0);
alter table bookings add check (paid_minor between 0 and charged_minor);
alter table bookings add check (refunded_minor between 0 and charged_minor);

-- When the passenger was taken out of the booking.
alter table passengers add column cancelled_at bigint;

-- How often the passenger was corrected.
alter table passengers add column corrections integer not null default 0;

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
create index booking_changes_expiring on booking_changes (expires_at) where status in ('offered', 'pending');
create index booking_changes_held on booking_changes (new_flight_id, user_id) where status in ('offered', 'pending');

-- A booking is paid once for its price and once for each change; a payment pays for one of them.
drop index payments_confirming;
create unique index payments_confirming on payments (provider, reference) where outcome in ('confirmed', 'changed');
