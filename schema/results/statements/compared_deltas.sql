-- Cases of the runs (a JSON array of their ids) whose scenario says what matters, later runs later.
SELECT p.bench_case, p.delta
FROM run r JOIN plan_case p ON p.run = r.id
WHERE r.id IN (SELECT value FROM json_each(:runs)) AND p.delta IS NOT NULL
ORDER BY r.started_at_ns, r.id;
