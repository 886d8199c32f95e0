-- Schema 1.11, with haul 0.2.0: haul prune takes the trials of old runs, whose results stay.
ALTER TABLE run ADD COLUMN pruned_at_ns INTEGER; -- NULL: it has its trials

PRAGMA user_version = 1011;
