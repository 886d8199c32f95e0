INSERT INTO case_run (
  run, process, bench_case, status, reason, note, n, iterations, clock, gated, verified, serialised,
  stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv,
  median_cycles, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
VALUES (
  :run, :process, :bench_case, :status, :reason, :note, :n, :iterations, :clock, :gated, :verified,
  :serialised, :stop, :median_ns, :median_low_ns, :median_high_ns, :p5_ns, :p95_ns, :min_ns,
  :max_ns, :mean_ns, :cv, :median_cycles, :started_at_ns, :ended_at_ns, :allocate_ns, :measure_ns,
  :verify_ns, :total_ns);
