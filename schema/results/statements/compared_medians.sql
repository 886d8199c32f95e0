-- Of one case: one row a process of the runs (a JSON array). All of it is in the index.
SELECT run, process, status, median_ns
FROM case_run INDEXED BY case_run_by_bench_case
WHERE bench_case = :bench_case AND run IN (SELECT value FROM json_each(:runs))
ORDER BY run, process;
