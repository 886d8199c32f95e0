-- Schema 1.3, with haul 0.2.0: what slowed a number stands beside it, and who measures a run.

-- measure.pause.
ALTER TABLE run ADD COLUMN pause_ns INTEGER; -- between two processes; 0: none

-- haul run --decide: how often at most its side is judged, and at which of these looks, from 2 on, the results of
-- this run come in. NULL: a run of its own.
ALTER TABLE run ADD COLUMN looks INTEGER;
ALTER TABLE run ADD COLUMN look INTEGER;

PRAGMA user_version = 1003;
