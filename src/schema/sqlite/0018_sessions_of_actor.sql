-- Each sign-in counts the sessions of its actor, newest first.
create index sessions_of_actor on sessions (actor, id);
