-- Refunds that name no booking and whose payment is not known yet, until its event arrives.
create table waiting_refunds (
  event_id text not null primary key,
  provider text not null,
  reference text not null,
  notice text not null,
  created_at integer not null
) strict;
create index waiting_refunds_by_reference on waiting_refunds (provider, reference);
create index waiting_refunds_newest on waiting_refunds (created_at, event_id);

create trigger waiting_refunds_of_event after delete on events begin
  delete from waiting_refunds where event_id = old.id;
end;

-- How far stored events were searched for payments, for each description of where a provider has them.
create table payment_searches (
  provider text not null,
  source text not null,
  searched_until integer not null,
  primary key (provider, source)
) strict;

-- The last name in folded case; null where lower() is the same, and empty until the server has folded it.
alter table passengers add column last_name_folded text;
update passengers set last_name_folded = '' where last_name glob '*[^ -~]*';
drop index passengers_last_name;
create index passengers_last_name on passengers (coalesce(last_name_folded, lower(last_name)), booking_id);
create index passengers_unfolded on passengers (booking_id, position) where last_name_folded = '';
