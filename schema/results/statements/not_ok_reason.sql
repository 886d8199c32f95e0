-- Why a case has no result in a run.
SELECT status, reason FROM case_run
WHERE run = :run AND bench_case = :bench_case AND status <> 'ok'
ORDER BY process LIMIT 1;
