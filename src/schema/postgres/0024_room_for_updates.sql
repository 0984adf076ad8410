-- Room in each page for the next version of its rows: a lease changes no index, so it then stays in its page and adds
-- no entry to any index (postgresql.org/docs/current/storage-hot.html). Applies to pages written from now on.
alter table deliveries set (fillfactor = 70);
alter table notifications set (fillfactor = 80);
alter table event_states set (fillfactor = 80);
