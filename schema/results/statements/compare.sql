-- What comparisons read of runs.

-- name: runs
SELECT r.id, r.uuid, r.tag, s.name AS scenario, r.only_glob AS only, r.origin, r.argv,
  r.haul_version, r.started_at_ns, r.environment, r.processes, r.looks, r.look,
  (SELECT o.id FROM run o WHERE o.uuid = r.repeats) AS repeats,
  (SELECT f.name FROM fleet f WHERE f.id = r.fleet) AS fleet,
  (SELECT f.value FROM run_fact f WHERE f.run = r.id AND f.name IN ('slurm_step_nodes', 'slurm_job_nodes')
   ORDER BY f.name DESC LIMIT 1) AS slurm_nodes
FROM run r JOIN scenario s ON s.id = r.scenario WHERE r.id BETWEEN :first AND :last
ORDER BY r.started_at_ns, r.id;

-- name: environment
-- Each column becomes a fact with its name. NULL is a value that is unavailable, whatever words say why.
SELECT simulated, host_name, node, CASE cuda_state WHEN 'ok' THEN 'ok' END AS cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count
FROM environment WHERE id = :environment;

-- name: facts
SELECT name, gpu, CASE state WHEN 'ok' THEN value END AS value
FROM environment_fact WHERE environment = :environment ORDER BY name, gpu;

-- name: gpus
SELECT number, nullif(uuid, '') AS uuid, name, numa_node, nullif(pci_address, '') AS pci_address FROM device
WHERE environment = :environment AND place = 'gpu' ORDER BY number;

-- name: gpu_links
SELECT source, target, peer_access, nvlink_count FROM link
WHERE environment = :environment AND place = 'gpu';

-- name: cases
-- Of the cases (:cases, a JSON array of ids) in the plans of the runs (:runs, another), those that a glob of :only (a
-- JSON array; NULL: all) matches; equal case_keys are adjacent.
SELECT b.id, b.case_key, b.definition, b.block, b.name, b.axes, b.path,
  coalesce(b.operation, b.method, b.kind) AS method, coalesce(b.size_bytes, 0) AS size_bytes,
  -- The one number that a case is compared by, as unit and amount of it in one iteration.
  b.figure, b.figure_amount AS units,
  -- Names and blocks of the settings that come to this case, one in a line.
  alias.names AS aliases
FROM bench_case b
LEFT JOIN (
  SELECT a.measured_by, group_concat(n.name || char(10) || n.block, char(10)) AS names
  FROM plan_alias a JOIN bench_case n ON n.id = a.bench_case
  WHERE a.run IN (SELECT value FROM json_each(:runs))
  GROUP BY a.measured_by) alias ON alias.measured_by = b.id
WHERE (:only IS NULL OR EXISTS
    (SELECT 1 FROM json_each(:only) o
     WHERE b.name GLOB o.value OR b.block GLOB o.value OR b.case_key GLOB o.value)
    OR b.id IN
      (SELECT a.measured_by
       FROM plan_alias a JOIN bench_case n ON n.id = a.bench_case JOIN json_each(:only) o
       WHERE a.run IN (SELECT value FROM json_each(:runs))
         AND (n.name GLOB o.value OR n.block GLOB o.value)))
  AND b.id IN (SELECT value FROM json_each(:cases))
ORDER BY b.case_key, b.id;

-- name: plans
-- Of each case in the plans of the runs (:runs, a JSON array of ids): the least time of one iteration that is not above its
-- peak (above_peak in views.sql), and the change that matters. In the order of the table's key: by run, then case.
SELECT gather(:take, run, bench_case, 100.0 * traffic_bytes / (101 * (peak_bytes_per_second / 1e9)), delta)
FROM plan_case WHERE run IN (SELECT value FROM json_each(:runs));

-- name: durations
-- How long each case of the runs (:runs, a JSON array of ids) took in a process, and with an empty case_key what a
-- process took beside its cases; means, in the order of the case_keys. And in how many runs it has a result. Between several processes of a run are pauses. So
-- there are before a run is resumed: each further worker of a process began after one, at most the longest.
WITH
  gap AS (
    SELECT p.id AS process, p.workers, c.started_at_ns - lag(c.started_at_ns + c.total_ns, 1, p.started_at_ns) OVER (
        PARTITION BY p.id ORDER BY c.started_at_ns) AS ns
    FROM process p JOIN case_run c ON c.run = p.run AND c.process = p.id
    WHERE p.run IN (SELECT value FROM json_each(:runs)) AND p.workers > 1),
  pause AS (
    SELECT process, sum(max(ns, 0)) AS pause_ns
    FROM (SELECT *, row_number() OVER (PARTITION BY process ORDER BY ns DESC) AS place FROM gap)
    WHERE place < workers GROUP BY process)
SELECT '' AS case_key, avg(CASE WHEN (SELECT count(*) FROM process q WHERE q.run = r.id) = 1
    THEN r.ended_at_ns - r.started_at_ns ELSE p.ended_at_ns - p.started_at_ns END - coalesce(u.pause_ns, 0) - (
    SELECT coalesce(sum(c.total_ns), 0) FROM case_run c WHERE c.run = r.id AND c.process = p.id)) AS ns, 0 AS runs
FROM run r JOIN process p ON p.run = r.id LEFT JOIN pause u ON u.process = p.id
WHERE r.id IN (SELECT value FROM json_each(:runs)) AND r.ended_at_ns IS NOT NULL AND p.ended_at_ns IS NOT NULL
HAVING ns IS NOT NULL
UNION ALL
SELECT b.case_key, avg(c.total_ns) AS ns, count(DISTINCT CASE WHEN c.median_ns IS NOT NULL THEN c.run END) AS runs
FROM case_run c JOIN bench_case b ON b.id = c.bench_case
WHERE c.run IN (SELECT value FROM json_each(:runs)) AND c.total_ns IS NOT NULL
GROUP BY b.case_key
ORDER BY 1;

-- name: earlier_runs
-- The latest runs of a machine before a time, without some (:runs, a JSON array of ids), in the order of their start.
SELECT id, uuid FROM (
SELECT r.id, r.uuid, r.started_at_ns
FROM run r JOIN environment e ON e.id = r.environment
WHERE coalesce(e.node, e.host_name) = :node AND e.simulated = :simulated AND r.origin = 'measured'
  AND r.started_at_ns < :before_ns AND r.id NOT IN (SELECT value FROM json_each(:runs))
ORDER BY r.started_at_ns DESC, r.id DESC
LIMIT :most)
ORDER BY started_at_ns, id;

-- name: run_count
SELECT count(*) AS runs FROM run;

-- name: conditions
-- What of the runs (:runs, a JSON array of ids) may explain a difference: checks that failed, what slowed
-- how many results, and runs that are not complete; of which GPU that is, NULL: of none; and the text without
-- the amount in which runs that were slowed alike differ.
SELECT k.run, 'check' AS kind, CASE
    WHEN k.name = 'gpu_idle' AND k.want IN ('true', 'on')
    THEN 'gpu' || k.gpu || ' was in use when the run began: ' || k.found
    ELSE 'check ' || k.name || CASE WHEN k.gpu >= 0 THEN ' of gpu' || k.gpu ELSE '' END
      || ' failed: found ' || k.found || ', wanted ' || k.want
  END AS text, 1 AS results, CASE WHEN k.gpu >= 0 THEN k.gpu END AS gpu, NULL AS brief
FROM check_result k
WHERE k.run IN (SELECT value FROM json_each(:runs)) AND k.status = 'failed'
  -- A resumed run checks again.
  AND NOT EXISTS (
    SELECT 1 FROM check_result l
    WHERE l.run = k.run AND l.name = k.name AND l.gpu = k.gpu AND l.status = 'failed' AND l.checked_at_ns > k.checked_at_ns)
UNION ALL
-- Notes alike of a run are counted without its results, which would be read for each note: those of a process are nearly
-- always adjacent, and an index tells whether one is the process's. The text is made once for them.
SELECT run, 'slowed_by', text, sum(results), gpu, brief FROM (
  SELECT s.run, v.text, s.results, v.gpu, v.brief
  FROM (
    SELECT r.run, count(*) AS results, min(n.case_run) AS case_run, n.ordinal
    FROM (SELECT p.id, p.run,
            (SELECT min(c.id) FROM case_run c INDEXED BY case_run_by_process WHERE c.process = p.id) AS low,
            (SELECT max(c.id) FROM case_run c INDEXED BY case_run_by_process WHERE c.process = p.id) AS high
          FROM process p WHERE p.run IN (SELECT value FROM json_each(:runs))) r
    CROSS JOIN case_note n
    WHERE n.case_run BETWEEN r.low AND r.high AND n.kind IN (SELECT k.kind FROM v_note_kind k WHERE k.slows)
      AND EXISTS (SELECT 1 FROM case_run c INDEXED BY case_run_by_process WHERE c.process = r.id AND c.id = n.case_run)
    GROUP BY r.run, n.kind, n.gpu, n.what, n.amount, n.amount2, n.amount3, n.amount4) s
  JOIN v_note v ON v.case_run = s.case_run AND v.ordinal = s.ordinal)
GROUP BY run, text
UNION ALL
SELECT v.run, 'incomplete', 'run ' || v.run || CASE v.status WHEN 'interrupted' THEN ' was interrupted'
    WHEN 'running' THEN ' has not ended, or was killed' ELSE ' failed' END
  || ': ' || CASE v.skipped WHEN v.cases THEN 'all of its ' || v.cases || ' cases were skipped'
    ELSE v.ok || ' of ' || ((v.cases - v.skipped) * v.processes) || ' results' END, 0, NULL, NULL
FROM v_run v
WHERE v.run IN (SELECT value FROM json_each(:runs)) AND v.status <> 'done';

-- name: flows
-- The endpoints of a case. Where the measured work is not flows it counts as one: from what is read to what works. Bytes that
-- it moves stay in their place.
SELECT role = 'load' AS load, source_place = 'gpu' AS source_is_gpu, source_index AS source, source_memory,
  target_place = 'gpu' AS target_is_gpu, target_index AS target, target_memory
FROM (
  SELECT ordinal, role, source_place, source_index,
    coalesce(source_share || ':process' || source_process, source_memory) AS source_memory, target_place, target_index,
    coalesce(target_share || ':process' || target_process, target_memory) AS target_memory
  FROM flow WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', coalesce(source_place, target_place), coalesce(source_index, target_index),
    coalesce(source_memory, ''), coalesce(target_place, source_place), coalesce(target_index, source_index),
    CASE figure WHEN 'GB/s' THEN source_memory ELSE '' END
  FROM bench_case WHERE id = :bench_case AND method IS NULL AND coalesce(source_place, target_place) IS NOT NULL)
ORDER BY ordinal;

-- name: medians
-- One row per process of the runs (:runs, a JSON array of ids) for one case, from the index alone and in its order: by run,
-- then process.
SELECT gather(:take, run, process, status, median_ns)
FROM case_run INDEXED BY case_run_by_bench_case
WHERE bench_case = :bench_case AND run IN (SELECT value FROM json_each(:runs));

-- name: medians_of_all_runs
SELECT gather(:take, run, process, status, median_ns)
FROM case_run INDEXED BY case_run_by_bench_case
WHERE bench_case = :bench_case;

-- name: errors
-- The standard error of each median of the runs from its trials, relative: that of its 95 % interval; where the
-- trials do not scatter alike (dips, two levels, a drift), more of them make it no better, and it is their
-- standard deviation. And how far their slow end is above the median. Results of a process are nearly always adjacent: to
-- read them one after the other takes half the time of finding each by an index.
SELECT gather(:take, c.run, c.bench_case, c.process,
  ifnull(max((c.median_high_ns - c.median_low_ns) / (2 * 1.96),
    CASE WHEN c.noise IN ('dips', 'two_modes', 'drift') THEN (c.p95_ns - c.p5_ns) / (2 * 1.645) ELSE 0 END)
    / c.median_ns, 0),
  ifnull(c.p95_ns / c.median_ns, 0))
FROM (SELECT p.id,
        (SELECT min(k.id) FROM case_run k INDEXED BY case_run_by_process WHERE k.process = p.id) AS low,
        (SELECT max(k.id) FROM case_run k INDEXED BY case_run_by_process WHERE k.process = p.id) AS high
      FROM process p WHERE p.run IN (SELECT value FROM json_each(:runs))) r
CROSS JOIN case_run c NOT INDEXED
WHERE c.id BETWEEN r.low AND r.high AND c.process = r.id AND c.status = 'ok';

-- name: undisturbed
-- Of processes that measured a case again because it was not precise, the time of its undisturbed rate; 0: it has none.
-- Such results are few, and in an index of their own.
SELECT bench_case, process, ifnull(undisturbed_ns, 0) AS ns
FROM case_run INDEXED BY case_run_noise
WHERE noise IS NOT NULL AND visits > 1 AND status = 'ok' AND run IN (SELECT value FROM json_each(:runs))
ORDER BY bench_case, process;

-- name: not_ok_reason
-- Why a case has no result in a run.
SELECT status || ': ' || ifnull(reason, '') AS word FROM case_run
WHERE run = :run AND bench_case = :bench_case AND status <> 'ok'
ORDER BY process LIMIT 1;

-- name: process_ordinal
SELECT ordinal FROM process WHERE id = :process;
