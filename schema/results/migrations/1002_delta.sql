-- Schema 1.2: what a change of a case must be to matter, where its scenario says so.

ALTER TABLE plan_case ADD COLUMN delta REAL CHECK (delta > 0); -- relative; NULL: left to comparing

PRAGMA user_version = 1002;
