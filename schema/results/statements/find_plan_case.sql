SELECT p.bench_case
FROM plan_case p JOIN bench_case b ON b.id = p.bench_case
WHERE b.key = :key AND p.run = :run;
