INSERT INTO main.plan_case (
  run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes,
  operations_per_sm, estimate_ns, delta)
SELECT
  r.output, b.output, p.position, p.limited_by, p.peak_bytes_per_second, p.traffic_bytes,
  p.operations_per_sm, p.estimate_ns, p.delta
FROM temp.merge_run r
JOIN input.plan_case p ON p.run = r.input
JOIN temp.merge_bench_case b ON b.input = p.bench_case
WHERE true
ON CONFLICT (run, bench_case) DO NOTHING;
