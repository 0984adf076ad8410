-- Older versions stored the booking's owner as the actor of its events. From the owner's id, operators
-- could look up a name and an e-mail address. Null means the owner; the ids of admins stay.
update events set actor = null
where provider = 'bookings'
  and actor = (
    select user_id from bookings where bookings.id = substr(events.subject, length('booking/') + 1)
  );
