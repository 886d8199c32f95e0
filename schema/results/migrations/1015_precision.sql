-- Schema 1.15, with haul 0.2.0: the precision that a case was to reach, and columns of views: when a case and a trial
-- started, how often flows load, why trials ended.

-- measure.precision: half-width of the 95 % interval of the median, relative. NULL: none was asked for, or the run is older.
ALTER TABLE plan_case ADD COLUMN precision REAL;

PRAGMA user_version = 1015;
