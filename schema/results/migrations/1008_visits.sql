-- Schema 1.8, with haul 0.2.0: a process measures a case again, at other times, where noise kept it from being precise.
ALTER TABLE trial ADD COLUMN visit INTEGER; -- from 0; NULL: 0

-- In case_run, median_ns is the median of the visits' medians, and its interval is their range where there are several.
ALTER TABLE case_run ADD COLUMN visits INTEGER; -- NULL: one
-- Why visits ended: settled (two or more agree, or the first was precise), budget (the time for them was up),
-- noise (as many as there may be, and none agree). NULL: the scenario asks for no further visit.
ALTER TABLE case_run ADD COLUMN settled TEXT;
ALTER TABLE case_run ADD COLUMN undisturbed_ns REAL; -- per iteration, of the visits that agree; NULL: not known
ALTER TABLE case_run ADD COLUMN undisturbed_low_ns REAL;
ALTER TABLE case_run ADD COLUMN undisturbed_high_ns REAL;
ALTER TABLE case_run ADD COLUMN disturbed_share REAL; -- of the trials: slower than undisturbed_ns by more than 2 %
ALTER TABLE case_run ADD COLUMN disturbed_most REAL;  -- how much longer the slowest took, relative

PRAGMA user_version = 1008;
