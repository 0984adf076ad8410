-- Tombstones of erased users.
create table erasures (
  id text not null primary key,
  created_at integer not null
) strict;
create index erasures_newest on erasures (created_at);

-- A person's bookings are found by e-mail address.
create index bookings_contact on bookings (lower(contact_email));
create index passengers_email on passengers (lower(email));
