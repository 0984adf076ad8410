-- The audit list by what was done, by whom, and to what.
create index audit_by_action on audit (action, created_at, id);
create index audit_by_actor on audit (actor, created_at, id);
create index audit_by_subject on audit (subject, created_at, id);
