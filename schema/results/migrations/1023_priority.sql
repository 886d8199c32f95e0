-- Schema 1.23, with haul 0.2.0: priorities of streams.

ALTER TABLE flow ADD COLUMN priority TEXT; -- of the flow's stream: "lowest" or "highest"; NULL: the usual

PRAGMA user_version = 1023;
