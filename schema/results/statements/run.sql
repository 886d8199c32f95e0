-- A run with its checks, processes and telemetry; what resuming it needs.

-- name: newest_start
SELECT max(started_at_ns) FROM run WHERE origin = 'measured';

-- name: insert_run
INSERT INTO run (
  uuid, environment, scenario, scenario_path, origin, tag, only_glob, command_line, haul_version,
  processes, case_order, seed, telemetry_ns, started_at_ns, status)
VALUES (
  :uuid, :environment, :scenario, :scenario_path, :origin, :tag, :only_glob, :command_line,
  :haul_version, :processes, :case_order, :seed, :telemetry_ns, :started_at_ns, 'running');

-- name: end_run
UPDATE run SET status = :status, reason = :reason, ended_at_ns = :ended_at_ns WHERE id = :run;

-- name: continue_run
UPDATE run SET status = 'running', reason = NULL, ended_at_ns = NULL WHERE id = :run;

-- name: find_run
SELECT id FROM run WHERE uuid = :uuid;

-- name: find_resumable
SELECT r.uuid, r.status, r.origin, r.scenario_path, s.resolved, r.only_glob, r.processes
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;

-- name: environment
-- Names and values that must not change when a run is resumed.
SELECT 'simulated' AS name, CAST(e.simulated AS TEXT) AS value
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'host_name', e.host_name
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'driver_version', coalesce(e.driver_version, 'none')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'kernel', coalesce(e.kernel, 'unknown')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'cpu_model', coalesce(e.cpu_model, 'unknown')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'gpu_count', CAST(e.gpu_count AS TEXT)
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'gpu' || d.number, d.uuid || ' at ' || d.pci_address
FROM run r JOIN device d ON d.environment = r.environment AND d.place = 'gpu' WHERE r.id = :run;

-- name: finished_cases
SELECT coalesce(p.ordinal, -1) AS process, b.case_key
FROM case_run c
JOIN bench_case b ON b.id = c.bench_case
LEFT JOIN process p ON p.id = c.process
WHERE c.run = :run
ORDER BY 1, 2;

-- name: insert_check_result
INSERT INTO check_result (run, name, gpu, checked_at_ns, status, on_fail, want, found)
VALUES (:run, :name, :gpu, :checked_at_ns, :status, :on_fail, :want, :found);

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
  pcie_generation, pcie_width, throttle_reasons)
VALUES (
  :run, :gpu, :at_ns, nullif(:sm_clock_khz, -1), nullif(:memory_clock_khz, -1),
  nullif(:power_mw, -1), nullif(:temperature_c, -1), nullif(:utilization_percent, -1),
  nullif(:pcie_generation, -1), nullif(:pcie_width, -1), nullif(:throttle_reasons, -1));
