-- A run of one UUID that is two: it was resumed in two copies of a database. Nothing of the input is
-- taken then, because what would be kept would depend on the order.
SELECT i.uuid, 'environment or scenario' AS what
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.environment ie ON ie.id = i.environment
JOIN input.scenario ins ON ins.id = i.scenario
JOIN main.run m ON m.id = r.output
JOIN main.environment e ON e.id = m.environment
JOIN main.scenario s ON s.id = m.scenario
WHERE r.known = 1
  AND (ie.key, ins.key, i.started_at_ns) IS NOT (e.key, s.key, m.started_at_ns)
UNION ALL
SELECT i.uuid, 'results of ' || k.name AS what
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.case_run c ON c.run = r.input
JOIN temp.merge_bench_case b ON b.input = c.bench_case
JOIN main.bench_case k ON k.id = b.output
LEFT JOIN temp.merge_process p ON p.input = c.process
JOIN main.case_run m ON m.run = r.output AND m.bench_case = b.output
  AND ifnull(m.process, 0) = ifnull(p.output, 0)
WHERE r.known = 1
  AND (m.status, m.n, m.median_ns, m.started_at_ns) IS NOT (c.status, c.n, c.median_ns, c.started_at_ns)
LIMIT 1;
