-- Results: a case in a process, its flows and its trials.

-- name: insert_case_run
-- A further visit (:again) says what all visits so far came to; clock, stop and noise stay those of the first. No row
-- comes out where the case is there and this is its first visit.
INSERT INTO case_run (
  run, process, bench_case, status, reason, n, iterations, clock, gated, verified, serialised,
  stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv,
  median_cycles, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns,
  cpu_before_khz, cpu_after_khz, noise, noise_size, noise_ns, cache_warm_ns, cache_flushed_ns, cpus,
  median_submit_ns, median_gpu_ns, visits, settled, undisturbed_ns, undisturbed_low_ns, undisturbed_high_ns,
  disturbed_share, disturbed_most, call_first_ns, call_median_ns, call_p99_ns,
  share_export_ns, share_open_first_ns, share_open_ns, share_close_ns)
VALUES (
  :run, :process, :bench_case, :status, :reason, :n, :iterations, :clock, :gated, :verified,
  :serialised, :stop, :median_ns, :median_low_ns, :median_high_ns, :p5_ns, :p95_ns, :min_ns,
  :max_ns, :mean_ns, :cv, :median_cycles, :started_at_ns, :ended_at_ns, :allocate_ns, :measure_ns,
  :verify_ns, :total_ns, nullif(:cpu_before_khz, 0), nullif(:cpu_after_khz, 0),
  :noise, nullif(:noise_size, 0), nullif(:noise_ns, 0), nullif(:cache_warm_ns, 0),
  nullif(:cache_flushed_ns, 0), nullif(:cpus, ''), :median_submit_ns, :median_gpu_ns, :visits, :settled,
  :undisturbed_ns, :undisturbed_low_ns, :undisturbed_high_ns, :disturbed_share, :disturbed_most,
  nullif(:call_first_ns, 0), nullif(:call_median_ns, 0), nullif(:call_p99_ns, 0),
  nullif(:share_export_ns, 0), nullif(:share_open_first_ns, 0), nullif(:share_open_ns, 0),
  nullif(:share_close_ns, 0))
ON CONFLICT (run, bench_case, ifnull(process, 0)) DO UPDATE SET
  status = excluded.status, reason = excluded.reason, n = excluded.n, iterations = excluded.iterations,
  verified = min(verified, excluded.verified), serialised = max(serialised, excluded.serialised),
  median_ns = excluded.median_ns, median_low_ns = excluded.median_low_ns, median_high_ns = excluded.median_high_ns,
  p5_ns = excluded.p5_ns, p95_ns = excluded.p95_ns, min_ns = excluded.min_ns, max_ns = excluded.max_ns,
  mean_ns = excluded.mean_ns, cv = excluded.cv, median_cycles = excluded.median_cycles,
  ended_at_ns = excluded.ended_at_ns, allocate_ns = allocate_ns + excluded.allocate_ns,
  measure_ns = measure_ns + excluded.measure_ns, verify_ns = verify_ns + excluded.verify_ns,
  total_ns = total_ns + excluded.total_ns, cpu_after_khz = excluded.cpu_after_khz,
  median_submit_ns = excluded.median_submit_ns, median_gpu_ns = excluded.median_gpu_ns, visits = excluded.visits,
  settled = excluded.settled, undisturbed_ns = excluded.undisturbed_ns,
  undisturbed_low_ns = excluded.undisturbed_low_ns, undisturbed_high_ns = excluded.undisturbed_high_ns,
  disturbed_share = excluded.disturbed_share, disturbed_most = excluded.disturbed_most
WHERE :again
RETURNING id;

-- name: insert_skipped
INSERT INTO case_run (run, bench_case, status, reason, n)
VALUES (:run, :bench_case, 'skipped', :reason, 0);

-- name: insert_imported
-- One value of another tool, without trials or an interval.
INSERT INTO case_run (run, process, bench_case, status, n, median_ns)
VALUES (:run, :process, :bench_case, 'ok', 1, :median_ns);

-- name: next_note
SELECT coalesce(max(ordinal) + 1, 0) FROM case_note WHERE case_run = :case_run;

-- name: insert_note
-- Unless it is one of those before :first.
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount, amount2, amount3, amount4)
SELECT :case_run, :ordinal, :kind, :gpu, :what, :amount, :amount2, :amount3, :amount4
WHERE NOT EXISTS (
  SELECT 1 FROM case_note n
  WHERE n.case_run = :case_run AND n.ordinal < :first
    AND (n.kind, n.gpu, n.what) IS (:kind, :gpu, :what));

-- name: insert_flow_run
INSERT OR REPLACE INTO flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
VALUES (:case_run, :flow, :n, :median_ns, :p5_ns, :p95_ns);

-- name: insert_trial
INSERT INTO trial (
  case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles, submit_ns, gpu_ns,
  visit)
VALUES (
  :case_run, :ordinal, :phase, :status, :iterations, :start_ns, :elapsed_ns, :cycles, :submit_ns,
  :gpu_ns, nullif(:visit, 0));

-- name: insert_flow_trial
INSERT INTO flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns, iterations)
VALUES (:case_run, :ordinal, :flow, :start_ns, :elapsed_ns, nullif(:iterations, 0));

-- name: open_case
-- Of a process that did not end: a result that another visit may settle, or that was not to be settled before.
SELECT c.id
FROM bench_case b
CROSS JOIN case_run c ON c.bench_case = b.id
JOIN process p ON p.id = c.process
WHERE b.case_key = :case_key AND c.run = :run AND p.ordinal = :process AND p.ended_at_ns IS NULL
  AND c.status = 'ok' AND (c.settled = 'budget' OR c.settled IS NULL);

-- name: trials
SELECT t.visit, t.ordinal, t.phase, t.status, t.iterations, t.start_ns + c.started_at_ns - :clock_offset_ns AS start_ns, t.elapsed_ns, t.cycles,
  t.submit_ns, t.gpu_ns
FROM case_run c JOIN trial t ON t.case_run = c.id
WHERE c.id = :case_run ORDER BY t.ordinal;

-- name: flow_trials
SELECT ordinal, flow, start_ns, elapsed_ns, iterations FROM flow_trial
WHERE case_run = :case_run ORDER BY ordinal, flow;
