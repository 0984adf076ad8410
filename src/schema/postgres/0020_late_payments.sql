-- Refunds that name no booking and whose payment is not known yet, until its event arrives.
create table waiting_refunds (
  event_id text collate "C" not null primary key,
  provider text collate "C" not null,
  reference text collate "C" not null,
  notice json not null,
  created_at bigint not null
);
create index waiting_refunds_by_reference on waiting_refunds (provider, reference);
create index waiting_refunds_newest on waiting_refunds (created_at, event_id);

create function forget_waiting_refund() returns trigger language plpgsql as $$
begin
  delete from waiting_refunds where event_id = old.id;
  return null;
end $$;
create trigger waiting_refunds_of_event after delete on events
  for each row execute function forget_waiting_refund();

-- How far stored events were searched for payments, for each description of where a provider has them.
create table payment_searches (
  provider text collate "C" not null,
  source text collate "C" not null,
  searched_until bigint not null,
  primary key (provider, source)
);

-- The last name in folded case; null where lower() is the same, and empty until the server has folded it.
alter table passengers add column last_name_folded text collate "C";
update passengers set last_name_folded = '' where last_name ~ '[^ -~]';
drop index passengers_last_name;
create index passengers_last_name on passengers (coalesce(last_name_folded, lower(last_name)), booking_id);
create index passengers_unfolded on passengers (booking_id, position) where last_name_folded = '';
