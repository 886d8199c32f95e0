SELECT coalesce(p.ordinal, -1) AS process, b.case_key
FROM case_run c
JOIN bench_case b ON b.id = c.bench_case
LEFT JOIN process p ON p.id = c.process
WHERE c.run = :run
ORDER BY 1, 2;
