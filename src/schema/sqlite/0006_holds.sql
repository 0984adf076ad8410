-- Bookings can be held until a payment confirms them. Earlier bookings were confirmed when they were made.
alter table bookings add column expires_at integer;
alter table bookings add column confirmed_at integer;
alter table bookings add column expired_at integer;
update bookings set confirmed_at = created_at;
create index bookings_expiring on bookings (expires_at) where status = 'held';
create index bookings_held on bookings (flight_id, user_id) where status = 'held';
