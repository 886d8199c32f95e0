INSERT INTO case_run (run, bench_case, status, reason, n)
VALUES (:run, :bench_case, 'skipped', :reason, 0);
