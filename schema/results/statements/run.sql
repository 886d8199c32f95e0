-- A run with its checks, processes and telemetry; what resuming it needs.

-- name: newest_start
SELECT max(started_at_ns) FROM run WHERE origin = 'measured';

-- name: insert_run
-- The number after the highest that a run has or had; NULL: SQLite gives the first one.
INSERT INTO run (
  id, uuid, environment, scenario, scenario_path, origin, tag, only_glob, command_line, haul_version,
  processes, case_order, seed, telemetry_ns, pause_ns, looks, look, repeats,
  argv, fleet, started_at_ns, status)
VALUES (
  (SELECT max(n) + 1 FROM (SELECT max(id) AS n FROM run UNION ALL SELECT highest FROM deleted_number)),
  :uuid, :environment, :scenario, :scenario_path, :origin, :tag, :only_glob, :command_line,
  :haul_version, :processes, :case_order, :seed, :telemetry_ns, :pause_ns, nullif(:looks, 0), nullif(:look, 0), :repeats,
  :argv, nullif(:fleet, 0), :started_at_ns, 'running');

-- name: insert_run_fact
INSERT INTO run_fact (run, name, value) VALUES (:run, :name, :value);

-- name: end_run
UPDATE run SET status = :status, reason = :reason, ended_at_ns = :ended_at_ns WHERE id = :run;

-- name: continue_run
UPDATE run SET status = 'running', reason = NULL, ended_at_ns = NULL WHERE id = :run;

-- name: find_run
SELECT id FROM run WHERE uuid = :key;

-- name: find_resumable
SELECT r.uuid, r.origin, r.scenario_path, s.resolved, r.only_glob, r.processes,
  r.looks IS NOT NULL OR r.repeats IS NOT NULL AS has_keys, r.status = 'done' AS complete,
  -- What the exit code of that run was: reason is a GPU that could not be used.
  r.reason IS NULL AND EXISTS (SELECT 1 FROM case_run c WHERE c.run = r.id AND c.status = 'ok')
    AND NOT EXISTS (SELECT 1 FROM case_run c WHERE c.run = r.id AND c.status NOT IN ('ok', 'skipped')) AS all_ok
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;

-- name: planned_keys
SELECT b.case_key AS word FROM plan_case p JOIN bench_case b ON b.id = p.bench_case WHERE p.run = :run;

-- name: environment
-- Names and values that must not change when a run is resumed.
WITH earlier AS (
  SELECT e.* FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run)
SELECT 'simulated' AS name, CAST(simulated AS TEXT) AS value FROM earlier
UNION ALL SELECT 'host_name', host_name FROM earlier
UNION ALL SELECT 'driver_version', coalesce(driver_version, 'none') FROM earlier
UNION ALL SELECT 'kernel', coalesce(kernel, 'unknown') FROM earlier
UNION ALL SELECT 'cpu_model', coalesce(cpu_model, 'unknown') FROM earlier
UNION ALL SELECT 'gpu_count', CAST(gpu_count AS TEXT) FROM earlier
UNION ALL SELECT 'gpu' || d.number, d.uuid || ' at ' || d.pci_address
FROM earlier t JOIN device d ON d.environment = t.id AND d.place = 'gpu';

-- name: find_result
-- Of a case in a process of the run; a skipped case has one for all processes. CROSS: the few cases of that key
-- come first, else each question goes through the whole run.
SELECT c.id
FROM bench_case b
CROSS JOIN case_run c ON c.bench_case = b.id
LEFT JOIN process p ON p.id = c.process
WHERE b.case_key = :case_key AND c.run = :run AND (c.process IS NULL OR p.ordinal = :process)
LIMIT 1;

-- name: count_outcomes
-- Of all processes, also those of an earlier session that this one resumed.
SELECT status, count(*) AS results FROM case_run WHERE run = :run GROUP BY status;

-- name: insert_check_result
INSERT INTO check_result (run, name, gpu, checked_at_ns, status, on_fail, on_unknown, want, found)
VALUES (:run, :name, :gpu, :checked_at_ns, :status, :on_fail, :on_unknown, :want, :found);

-- name: start_process
-- A worker that replaces a dead one continues the same process.
INSERT INTO process (run, ordinal, pid, workers, started_at_ns)
VALUES (:run, :ordinal, :pid, 1, :started_at_ns)
ON CONFLICT (run, ordinal) DO UPDATE SET
  pid = excluded.pid, workers = workers + 1, ended_at_ns = NULL;

-- name: find_process
SELECT id FROM process WHERE run = :run AND ordinal = :ordinal;

-- name: end_process
UPDATE process SET ended_at_ns = :ended_at_ns WHERE run = :run AND ordinal = :ordinal;

-- name: insert_telemetry
-- -1: the value could not be read. Of two samples at the same time, the first counts.
INSERT OR IGNORE INTO telemetry (
  run, gpu, at_ns, sm_clock_khz, memory_clock_khz, power_mw, temperature_c, utilization_percent,
  pcie_generation, pcie_width, throttle_reasons, other_processes, energy_mj, memory_temperature_c,
  pcie_replays, nvlink_errors, ecc_corrected, ecc_uncorrected, rows_remapped, xid_count, xid)
VALUES (
  :run, :gpu, :at_ns, nullif(:sm_clock_khz, -1), nullif(:memory_clock_khz, -1),
  nullif(:power_mw, -1), nullif(:temperature_c, -1), nullif(:utilization_percent, -1),
  nullif(:pcie_generation, -1), nullif(:pcie_width, -1), nullif(:throttle_reasons, -1),
  nullif(:other_processes, -1), nullif(:energy_mj, -1), nullif(:memory_temperature_c, -1),
  nullif(:pcie_replays, -1), nullif(:nvlink_errors, -1), nullif(:ecc_corrected, -1),
  nullif(:ecc_uncorrected, -1), nullif(:rows_remapped, -1), nullif(:xid_count, -1), nullif(:xid, 0));
