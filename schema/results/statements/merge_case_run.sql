-- A result and what belongs to it were written in one transaction: where the result is known, all of
-- it is.
DELETE FROM temp.merge_case_run;
INSERT INTO temp.merge_case_run (input)
SELECT c.id
FROM input.case_run c
JOIN temp.merge_run r ON r.input = c.run
JOIN temp.merge_bench_case b ON b.input = c.bench_case
LEFT JOIN temp.merge_process p ON p.input = c.process
WHERE r.known = 0
  OR NOT EXISTS (
    SELECT 1 FROM main.case_run m
    WHERE m.run = r.output AND m.bench_case = b.output
      AND ifnull(m.process, 0) = ifnull(p.output, 0))
ORDER BY c.id;
UPDATE temp.merge_case_run
SET output = ordinal + (SELECT ifnull(max(id), 0) FROM main.case_run);
UPDATE temp.merge_run SET results = (
  SELECT count(*) FROM temp.merge_case_run x JOIN input.case_run c ON c.id = x.input
  WHERE c.run = temp.merge_run.input);

INSERT INTO main.case_run (
  id, run, process, bench_case, status, reason, note, n, iterations, clock, gated, verified,
  serialised, stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns,
  mean_ns, cv, median_cycles, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
SELECT
  x.output, r.output, p.output, b.output, c.status, c.reason, c.note, c.n, c.iterations, c.clock,
  c.gated, c.verified, c.serialised, c.stop, c.median_ns, c.median_low_ns, c.median_high_ns,
  c.p5_ns, c.p95_ns, c.min_ns, c.max_ns, c.mean_ns, c.cv, c.median_cycles, c.started_at_ns, c.ended_at_ns,
  c.allocate_ns, c.measure_ns, c.verify_ns, c.total_ns
FROM temp.merge_case_run x
CROSS JOIN input.case_run c ON c.id = x.input
JOIN temp.merge_run r ON r.input = c.run
JOIN temp.merge_bench_case b ON b.input = c.bench_case
LEFT JOIN temp.merge_process p ON p.input = c.process
ORDER BY x.ordinal;
