-- Schema 1.10, with haul 0.2.0: questions to years of results take time with their answer's size, not with history's.
CREATE INDEX bench_case_by_name ON bench_case (name);
-- With all that a summary over runs reads.
DROP INDEX case_run_by_bench_case;
CREATE INDEX case_run_by_bench_case ON case_run (bench_case, run, process, status, median_ns, n);

PRAGMA user_version = 1010;
