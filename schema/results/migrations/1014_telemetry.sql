-- Schema 1.14, with haul 0.2.0: error counters and the memory's temperature in samples of GPUs; NULL: NVML does not give
-- it here.

ALTER TABLE telemetry ADD COLUMN memory_temperature_c INTEGER;
ALTER TABLE telemetry ADD COLUMN pcie_replays INTEGER;    -- this and the next four count since the driver was loaded
ALTER TABLE telemetry ADD COLUMN nvlink_errors INTEGER;   -- of all links: CRC errors, replays, recoveries
ALTER TABLE telemetry ADD COLUMN ecc_corrected INTEGER;
ALTER TABLE telemetry ADD COLUMN ecc_uncorrected INTEGER;
ALTER TABLE telemetry ADD COLUMN rows_remapped INTEGER;
ALTER TABLE telemetry ADD COLUMN xid_count INTEGER;       -- since the run began
ALTER TABLE telemetry ADD COLUMN xid INTEGER;             -- number of the latest; NULL: none

PRAGMA user_version = 1014;
