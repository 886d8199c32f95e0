-- Schema 1.3, with haul 0.2.0: what slowed a number stands beside it, and who measures a run.

-- measure.pause.
ALTER TABLE run ADD COLUMN pause_ns INTEGER; -- between two processes; 0: none

PRAGMA user_version = 1003;
