-- Two roles for Skyhook on PostgreSQL: `sky` owns the schema and migrates it, `sky_server` runs the instances.
-- Run it as a superuser in the database. See docs/postgresql.md, "Limit the role". Set passwords first.
create role sky login password 'change-me';
create role sky_server login password 'change-me';
create schema sky authorization sky;
do $$
begin
  execute format('grant connect on database %I to sky, sky_server', current_database());
  -- `?search_path=sky` at the end of DATABASE_URL has the same effect.
  execute format('alter role sky in database %I set search_path = sky', current_database());
  execute format('alter role sky_server in database %I set search_path = sky', current_database());
end $$;
grant usage on schema sky to sky_server;
alter default privileges for role sky in schema sky
  grant select, insert, update, delete on tables to sky_server;
alter default privileges for role sky in schema sky
  grant usage, select, update on sequences to sky_server;
alter default privileges for role sky in schema sky
  grant execute on functions to sky_server;
