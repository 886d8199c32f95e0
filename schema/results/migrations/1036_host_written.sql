-- Schema 1.36, with haul 0.2.0: cases from before 1.3 have host_written, as later ones do, whose buffers no threads wrote.

UPDATE bench_case SET host_written = 0 WHERE host_written IS NULL;

PRAGMA user_version = 1036;
