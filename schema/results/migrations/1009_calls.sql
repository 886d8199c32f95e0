-- Schema 1.9, with haul 0.2.0: calls of the driver by several threads, beside other allocations, and one by one.

ALTER TABLE overhead ADD COLUMN threads INTEGER; -- that call at once; NULL: one
ALTER TABLE overhead ADD COLUMN alive INTEGER;   -- allocations that exist meanwhile; NULL: none
ALTER TABLE overhead ADD COLUMN nodes INTEGER;   -- of the graph; NULL: one
ALTER TABLE case_run ADD COLUMN call_first_ns INTEGER; -- the first call of the case in the process; NULL: not known
ALTER TABLE case_run ADD COLUMN call_median_ns INTEGER; -- of single calls
ALTER TABLE case_run ADD COLUMN call_p99_ns INTEGER;

PRAGMA user_version = 1009;
