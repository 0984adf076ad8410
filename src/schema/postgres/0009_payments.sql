-- What an event changed in a booking, or why nothing.
alter table events add column effect text collate "C";
-- Paid and refunded amounts. The last line of defence against wrong totals, whatever a statement says.
alter table bookings add column paid_minor bigint check (paid_minor = total_minor);
alter table bookings add column refunded_minor bigint not null default 0
  check (refunded_minor between 0 and coalesce(paid_minor, 0));
-- How many payment events are recorded. Recording one requires the number that was read.
alter table bookings add column payment_count integer not null default 0;

-- What providers' events said about the payment of bookings, and what came of it.
create table payments (
  event_id text collate "C" not null primary key,
  booking_id text collate "C" not null,
  provider text collate "C" not null,
  reference text collate "C",
  amount_minor bigint,
  currency text collate "C",
  amount text collate "C" not null,
  outcome text collate "C" not null,
  created_at bigint not null
);
create index payments_of_booking on payments (booking_id, created_at);
create index payments_by_reference on payments (provider, reference) where reference is not null;
-- A booking is paid once, and a payment pays for one booking.
create unique index payments_of_paid_booking on payments (booking_id) where outcome = 'confirmed';
create unique index payments_confirming on payments (provider, reference) where outcome = 'confirmed';
