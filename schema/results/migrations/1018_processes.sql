-- Schema 1.18, with haul 0.2.0: memory of other processes.

ALTER TABLE flow ADD COLUMN source_process INTEGER; -- whose memory it is; NULL: that of the process that measures
ALTER TABLE flow ADD COLUMN source_share TEXT;      -- how it is opened; NULL: it need not be
ALTER TABLE flow ADD COLUMN target_process INTEGER;
ALTER TABLE flow ADD COLUMN target_share TEXT;
ALTER TABLE overhead ADD COLUMN handles INTEGER;    -- other memory of the other process that is open; NULL: none
ALTER TABLE case_run ADD COLUMN share_export_ns INTEGER; -- by the process that has the memory; NULL: no other has any
ALTER TABLE case_run ADD COLUMN share_open_first_ns INTEGER;
ALTER TABLE case_run ADD COLUMN share_open_ns INTEGER;   -- median of later openings
ALTER TABLE case_run ADD COLUMN share_close_ns INTEGER;

PRAGMA user_version = 1018;
