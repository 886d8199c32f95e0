-- One value, as another tool printed it: no trials, no interval, nothing that it does not say.
INSERT INTO case_run (run, process, bench_case, status, note, n, median_ns)
VALUES (:run, :process, :bench_case, 'ok', :note, 1, :median_ns);
