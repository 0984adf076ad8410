-- Two owners may choose the same name: a user neither learns nor takes the names of others.
drop index destinations_name;
create unique index destinations_name on destinations (coalesce(owner_id, ''), name);
