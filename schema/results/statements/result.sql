-- Results: a case in a process, its flows and its trials.

-- name: insert_case_run
INSERT INTO case_run (
  run, process, bench_case, status, reason, n, iterations, clock, gated, verified, serialised,
  stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv,
  median_cycles, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns,
  cpu_before_khz, cpu_after_khz, noise, noise_size, noise_ns, cache_warm_ns, cache_flushed_ns, cpus,
  median_submit_ns, median_gpu_ns)
VALUES (
  :run, :process, :bench_case, :status, :reason, :n, :iterations, :clock, :gated, :verified,
  :serialised, :stop, :median_ns, :median_low_ns, :median_high_ns, :p5_ns, :p95_ns, :min_ns,
  :max_ns, :mean_ns, :cv, :median_cycles, :started_at_ns, :ended_at_ns, :allocate_ns, :measure_ns,
  :verify_ns, :total_ns, nullif(:cpu_before_khz, 0), nullif(:cpu_after_khz, 0),
  :noise, nullif(:noise_size, 0), nullif(:noise_ns, 0), nullif(:cache_warm_ns, 0),
  nullif(:cache_flushed_ns, 0), nullif(:cpus, ''), :median_submit_ns, :median_gpu_ns);

-- name: insert_skipped
INSERT INTO case_run (run, bench_case, status, reason, n)
VALUES (:run, :bench_case, 'skipped', :reason, 0);

-- name: insert_imported
-- One value of another tool, without trials or an interval.
INSERT INTO case_run (run, process, bench_case, status, n, median_ns)
VALUES (:run, :process, :bench_case, 'ok', 1, :median_ns);

-- name: insert_note
-- Of the case_run that was inserted last.
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount, amount2, amount3, amount4)
VALUES (:case_run, :ordinal, :kind, :gpu, :what, :amount, :amount2, :amount3, :amount4);

-- name: insert_flow_run
INSERT INTO flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
VALUES (:case_run, :flow, :n, :median_ns, :p5_ns, :p95_ns);

-- name: insert_trial
INSERT INTO trial (
  case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles, submit_ns, gpu_ns)
VALUES (
  :case_run, :ordinal, :phase, :status, :iterations, :start_ns, :elapsed_ns, :cycles, :submit_ns,
  :gpu_ns);

-- name: insert_flow_trial
INSERT INTO flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns, iterations)
VALUES (:case_run, :ordinal, :flow, :start_ns, :elapsed_ns, nullif(:iterations, 0));
