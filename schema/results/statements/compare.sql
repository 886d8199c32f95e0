-- What comparisons read of runs.

-- name: runs
SELECT r.id, r.uuid, r.tag, s.name AS scenario, r.only_glob, r.origin, r.argv,
  r.haul_version, r.started_at_ns, r.environment, r.processes, ifnull(r.looks, 0), ifnull(r.look, 0),
  (SELECT f.name FROM fleet f WHERE f.id = r.fleet)
FROM run r JOIN scenario s ON s.id = r.scenario WHERE r.id BETWEEN :first AND :last
ORDER BY r.started_at_ns, r.id;

-- name: environment
-- Each column becomes a fact with its name.
SELECT simulated, host_name, node, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count
FROM environment WHERE id = :environment;

-- name: facts
SELECT name, gpu, CASE state WHEN 'ok' THEN value END AS value
FROM environment_fact WHERE environment = :environment ORDER BY name, gpu;

-- name: gpus
SELECT number, nullif(uuid, ''), name, numa_node, nullif(pci_address, '') FROM device
WHERE environment = :environment AND place = 'gpu' ORDER BY number;

-- name: gpu_links
SELECT source, target, peer_access, nvlink_count FROM link
WHERE environment = :environment AND place = 'gpu';

-- name: cases
-- Cases in the plans of the runs (:runs, a JSON array of ids) that a glob of :only (a JSON array; NULL: all)
-- matches; equal case_keys are adjacent.
SELECT b.id, b.case_key, b.definition, b.block, b.name, b.axes, b.path,
  coalesce(f.method, o.operation, st.op, ar.op, b.kind) AS method,
  coalesce(f.size_bytes, h.footprint_bytes, o.size_bytes, st.size_bytes, 0) AS size_bytes,
  -- The one number that a case is compared by, as unit and amount of it in one iteration.
  CASE WHEN h.hops > 0 THEN 'ns/hop' WHEN o.bench_case IS NOT NULL THEN 'ns/call'
    WHEN b.payload_bytes > 0 THEN 'GB/s' ELSE 'ns' END AS figure,
  CASE WHEN h.hops > 0 THEN h.hops WHEN o.bench_case IS NULL AND b.payload_bytes > 0
    THEN b.payload_bytes ELSE 1 END AS units,
  -- Of the runs with this case_key, what the one started last says of those that have a delta.
  (SELECT p.delta
   FROM bench_case k
   CROSS JOIN plan_case p ON p.bench_case = k.id
   JOIN run r ON r.id = p.run
   WHERE k.case_key = b.case_key
     AND p.run IN (SELECT value FROM json_each(:runs)) AND p.delta IS NOT NULL
   ORDER BY r.started_at_ns DESC, r.id DESC LIMIT 1) AS delta,
  -- Names and blocks of the settings that come to this case, one in a line.
  alias.names
FROM bench_case b
LEFT JOIN (
  SELECT a.measured_by, group_concat(n.name || char(10) || n.block, char(10)) AS names
  FROM plan_alias a JOIN bench_case n ON n.id = a.bench_case
  WHERE a.run IN (SELECT value FROM json_each(:runs))
  GROUP BY a.measured_by) alias ON alias.measured_by = b.id
LEFT JOIN chase h ON h.bench_case = b.id
LEFT JOIN overhead o ON o.bench_case = b.id
LEFT JOIN stream st ON st.bench_case = b.id
LEFT JOIN arithmetic ar ON ar.bench_case = b.id
LEFT JOIN flow f ON f.bench_case = b.id
  AND f.ordinal = (SELECT min(g.ordinal) FROM flow g
                   WHERE g.bench_case = b.id AND g.role = 'measured')
WHERE (:only IS NULL OR EXISTS
    (SELECT 1 FROM json_each(:only) o
     WHERE b.name GLOB o.value OR b.block GLOB o.value OR b.case_key GLOB o.value)
    OR b.id IN
      (SELECT a.measured_by
       FROM plan_alias a JOIN bench_case n ON n.id = a.bench_case JOIN json_each(:only) o
       WHERE a.run IN (SELECT value FROM json_each(:runs))
         AND (n.name GLOB o.value OR n.block GLOB o.value)))
  AND b.id IN (SELECT p.bench_case FROM plan_case p
               WHERE p.run IN (SELECT value FROM json_each(:runs)))
ORDER BY b.case_key, b.id;

-- name: conditions
-- What of the runs (:runs, a JSON array of ids) may explain a difference: checks that failed (1), what slowed
-- how many results (0), and runs that are not complete (2); of which GPU that is, NULL: of none; and the text without
-- the amount in which runs that were slowed alike differ.
SELECT k.run, 1, CASE
    WHEN k.name = 'gpu_idle' AND k.want IN ('true', 'on')
    THEN 'gpu' || k.gpu || ' was in use when the run began: ' || k.found
    ELSE 'check ' || k.name || CASE WHEN k.gpu >= 0 THEN ' of gpu' || k.gpu ELSE '' END
      || ' failed: found ' || k.found || ', wanted ' || k.want
  END, 1, CASE WHEN k.gpu >= 0 THEN k.gpu END, NULL
FROM check_result k
WHERE k.run IN (SELECT value FROM json_each(:runs)) AND k.status = 'failed'
UNION ALL
SELECT v.run, 0, v.text, count(*), v.gpu, v.brief
FROM case_run c JOIN v_note v ON v.case_run = c.id
WHERE c.run IN (SELECT value FROM json_each(:runs)) AND v.slows
GROUP BY v.run, v.text
UNION ALL
SELECT v.run, 2, 'run ' || v.run || CASE v.status WHEN 'interrupted' THEN ' was interrupted'
    WHEN 'running' THEN ' has not ended, or was killed' ELSE ' failed' END
  || ': ' || v.ok || ' of ' || ((v.cases - v.skipped) * v.processes) || ' results', 0, NULL, NULL
FROM v_run v
WHERE v.run IN (SELECT value FROM json_each(:runs)) AND v.status <> 'done';

-- name: flows
-- The endpoints of a case. A chase and an overhead count as one flow to the GPU, a stream and arithmetic
-- as one flow inside their place.
SELECT role, source_place, source_index, source_memory, target_place, target_index, target_memory
FROM (
  SELECT ordinal, role, source_place, source_index, source_memory, target_place, target_index,
    target_memory
  FROM flow WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', memory_place, memory_index, memory, 'gpu', gpu, ''
  FROM chase WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', coalesce(memory_place, 'gpu'), coalesce(memory_index, gpu, -1),
    coalesce(memory, ''), CASE WHEN gpu IS NULL THEN memory_place ELSE 'gpu' END,
    coalesce(gpu, memory_index, -1), ''
  FROM overhead WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', memory_place, memory_index, memory, memory_place, memory_index, memory
  FROM stream WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', 'gpu', gpu, '', 'gpu', gpu, ''
  FROM arithmetic WHERE bench_case = :bench_case)
ORDER BY ordinal;

-- name: medians
-- One row per process of the runs (:runs, a JSON array of ids) for one case, from the index alone; above: the median is
-- above the peak that the run's plan has (above_peak in views.sql).
SELECT c.run, c.process, c.status, c.median_ns,
  100.0 * (p.traffic_bytes / c.median_ns) / (p.peak_bytes_per_second / 1e9) > 101 AS above
FROM case_run c INDEXED BY case_run_by_bench_case
LEFT JOIN plan_case p ON p.run = c.run AND p.bench_case = c.bench_case
WHERE c.bench_case = :bench_case AND c.run IN (SELECT value FROM json_each(:runs))
ORDER BY c.run, c.process;

-- name: errors
-- The standard error of each of these medians from its trials, relative: that of its 95 % interval; where the
-- trials do not scatter alike (dips, two levels, a drift), more of them make it no better, and it is their
-- standard deviation. And how far their slow end is above the median.
SELECT process,
  max((median_high_ns - median_low_ns) / (2 * 1.96),
    CASE WHEN noise IN ('dips', 'two_modes', 'drift') THEN (p95_ns - p5_ns) / (2 * 1.645) ELSE 0 END)
    / median_ns,
  p95_ns / median_ns
FROM case_run INDEXED BY case_run_by_bench_case
WHERE bench_case = :bench_case AND run IN (SELECT value FROM json_each(:runs)) AND status = 'ok'
ORDER BY run, process;

-- name: undisturbed
-- Of processes that visited a case again because it was not precise, the rate that came back; 0: none did. Such results
-- are few, and in an index of their own.
SELECT bench_case, process, ifnull(undisturbed_ns, 0)
FROM case_run INDEXED BY case_run_noise
WHERE noise IS NOT NULL AND visits > 1 AND status = 'ok' AND run IN (SELECT value FROM json_each(:runs))
ORDER BY bench_case, process;

-- name: not_ok_reason
-- Why a case has no result in a run.
SELECT status, reason FROM case_run
WHERE run = :run AND bench_case = :bench_case AND status <> 'ok'
ORDER BY process LIMIT 1;

-- name: process_ordinal
SELECT ordinal FROM process WHERE id = :process;
