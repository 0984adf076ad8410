-- The latest attempts of a destination, for its success rate and response times.
create index attempts_of_destination on attempts (destination_id, started_at);
