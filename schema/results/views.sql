-- The views are the interface for people's SQL: every column is in schema/results/README.md, and a
-- column that was released stays. They must work in the sqlite3 shell from 3.26 on. Changing this
-- file takes a migration with a new minor version, after which the views are made anew.
--
-- Bytes per ns are GB/s (10^9 bytes).
--
-- above_peak: more than 1 % above the peak. That number is not of bytes that moved through what peak_gbps is of, or the peak
-- is wrong: nothing compares it. (compare/medians in statements/compare.sql has the same rule.)

-- A machine with its software, and what it is called: node is the launcher's name for it, else its host name.
CREATE VIEW v_machine AS
SELECT
  e.id AS environment,
  e.key AS environment_key,
  coalesce(e.node, e.host_name) AS node,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.cuda_driver_version AS cuda_driver_version,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.gpu_count AS gpu_count,
  e.node_count AS node_count,
  e.simulated AS simulated,
  e.source AS source,
  e.cuda_state AS cuda_state,
  e.kernel_module AS kernel_module,
  e.os AS os,
  e.boot_id AS boot_id,
  e.cpu_model AS cpu_model,
  e.hypervisor AS hypervisor,
  -- 535.129.3 sorts behind 535.54.03: each part has three digits.
  CAST(e.driver_version AS INTEGER) * 1000000
    + CAST(substr(e.driver_version, instr(e.driver_version || '.', '.') + 1) AS INTEGER) * 1000
    + CAST(substr(e.driver_version, instr(e.driver_version || '.', '.') + 1
        + instr(substr(e.driver_version, instr(e.driver_version || '.', '.') + 1) || '.', '.')) AS INTEGER)
    AS driver_number
FROM environment e;

CREATE VIEW v_run AS
SELECT
  r.id AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  s.name AS scenario,
  r.scenario_path AS scenario_path,
  r.status AS status,
  r.reason AS reason,
  r.origin AS origin,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.ended_at_ns / 1000000000, 'unixepoch') AS ended_at,
  (r.ended_at_ns - r.started_at_ns) / 1e9 AS duration_s,
  r.processes AS processes,
  (SELECT count(*) FROM plan_case p WHERE p.run = r.id) AS cases,
  -- From indexes alone: that of what is not ok has few rows.
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status <> 'ok' AND c.status = 'skipped') AS skipped,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id)
    - (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status <> 'ok') AS ok,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status <> 'ok' AND c.status <> 'skipped') AS not_ok,
  -- A resumed run checks again.
  (SELECT count(*) FROM (SELECT DISTINCT k.name, k.gpu FROM check_result k WHERE k.run = r.id AND k.status = 'failed'))
    AS checks_failed,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.cuda_driver_version AS cuda_driver_version,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.gpu_count AS gpu_count,
  e.node_count AS node_count,
  e.simulated AS simulated,
  e.environment_key AS environment_key,
  r.haul_version AS haul_version,
  r.command_line AS command_line,
  r.pause_ns AS pause_ns,
  r.looks AS looks,
  r.look AS look,
  e.node AS node,
  (SELECT f.name FROM fleet f WHERE f.id = r.fleet) AS fleet,
  r.repeats AS repeats,
  r.started_at_ns AS started_at_ns,
  e.driver_number AS driver_number,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.pruned_at_ns / 1000000000, 'unixepoch') AS pruned_at,
  (SELECT group_concat(value, ', ') FROM (
     SELECT DISTINCT v.value AS value FROM environment_fact v
     WHERE v.environment = r.environment AND v.name = 'vbios' AND v.state = 'ok' ORDER BY v.gpu)) AS vbios,
  r.processes * ((SELECT count(*) FROM plan_case p WHERE p.run = r.id)
    - (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status <> 'ok' AND c.status = 'skipped')) AS planned
FROM run r
JOIN v_machine e ON e.environment = r.environment
JOIN scenario s ON s.id = r.scenario;

-- What few rows have is looked up where a join says that it is there: opening a cursor costs more than a join does.
CREATE VIEW v_case AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  p.ordinal AS process,
  c.id AS case_run,
  pc.position AS position,
  b.kind AS kind,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  b.path AS path,
  b.axes AS axes,
  f.method AS method,
  b.operation AS operation,
  CASE
    WHEN b.kind IN ('compute', 'signal') THEN NULL
    WHEN f1.ordinal = 1 AND EXISTS (
      SELECT 1 FROM flow g
      WHERE g.bench_case = b.id AND g.role = 'measured' AND g.ordinal <> f.ordinal
        AND g.source_place = f.target_place AND g.source_index = f.target_index
        AND g.source_memory = f.target_memory AND g.target_place = f.source_place
        AND g.target_index = f.source_index AND g.target_memory = f.source_memory
        AND g.source_process IS f.target_process AND g.target_process IS f.source_process
        AND (f.source_place <> f.target_place OR f.source_index <> f.target_index
             OR f.source_memory <> f.target_memory OR f.source_process IS NOT f.target_process)) THEN 'both'
    WHEN f.source_place = 'gpu' AND f.target_place = 'gpu' AND f.source_index = f.target_index
      THEN 'local'
    WHEN f.source_place = 'gpu' AND f.target_place = 'gpu' THEN 'device_to_device'
    WHEN f.source_place = 'gpu' THEN 'device_to_host'
    WHEN f.target_place = 'gpu' THEN 'host_to_device'
    WHEN f.target_place = 'numa' THEN 'host_to_host'
  END AS direction,
  b.source_place AS source_place,
  b.source_index AS source_index,
  b.source_memory AS source_memory,
  b.target_place AS target_place,
  b.target_index AS target_index,
  b.target_memory AS target_memory,
  f.initiator AS initiator,
  f.staged AS staged,
  b.gpu AS gpu,
  CASE WHEN f1.ordinal = 1 THEN (SELECT count(*) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured')
    ELSE ifnull(f0.role = 'measured', 0) END AS flows,
  CASE WHEN f1.ordinal = 1 THEN (SELECT count(*) FROM flow g WHERE g.bench_case = b.id AND g.role = 'load')
    ELSE ifnull(f0.role = 'load', 0) END AS loads,
  b.size_bytes AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  CASE WHEN pc.limited_by NOT IN ('fma', 'tensor') THEN nullif(pc.traffic_bytes, 0) END AS traffic_bytes,
  b.stride_bytes AS stride_bytes,
  b.hops AS hops,
  b.space AS space,
  b.hop_order AS hop_order,
  b.cache AS cache,
  b.number_type AS number_type,
  b.measure AS measure,
  b.ilp AS ilp,
  b.passes AS passes,
  b.threads AS threads,
  b.block_threads AS block_threads,
  b.grid_blocks AS grid_blocks,
  nullif(b.operations, 0) AS operations,
  CASE
    WHEN b.host_cache = 'flushed' THEN 'flushed' WHEN b.host_written = 1 THEN 'warm' ELSE 'as_is'
  END AS host_cache,
  b.device_cache AS device_cache,
  c.status AS status,
  c.reason AS reason,
  CASE WHEN n0.ordinal >= 0 THEN
    (SELECT group_concat(v.text, '; ') FROM v_note v WHERE v.case_run = c.id AND NOT v.slows) END AS note,
  c.n AS n,
  c.iterations AS iterations,
  c.clock AS clock,
  c.gated AS gated,
  c.verified AS verified,
  c.serialised AS serialised,
  c.stop AS stop,
  c.stop = 'precision' AS converged,
  c.median_ns AS median_ns,
  c.median_low_ns AS median_low_ns,
  c.median_high_ns AS median_high_ns,
  c.p5_ns AS p5_ns,
  c.p95_ns AS p95_ns,
  c.min_ns AS min_ns,
  c.max_ns AS max_ns,
  c.mean_ns AS mean_ns,
  c.cv AS cv,
  nullif(b.payload_bytes, 0) / c.median_ns AS gbps,
  nullif(b.payload_bytes, 0) / c.p95_ns AS gbps_p5,
  nullif(b.payload_bytes, 0) / c.p5_ns AS gbps_p95,
  nullif(b.payload_bytes, 0) / c.median_high_ns AS gbps_low,
  nullif(b.payload_bytes, 0) / c.median_low_ns AS gbps_high,
  CASE WHEN pc.limited_by NOT IN ('fma', 'tensor') THEN nullif(pc.traffic_bytes, 0) / c.median_ns END AS traffic_gbps,
  CASE WHEN pc.limited_by NOT IN ('fma', 'tensor') THEN pc.peak_bytes_per_second / 1e9 END AS peak_gbps,
  pc.limited_by AS limited_by,
  100.0 * (nullif(pc.traffic_bytes, 0) / c.median_ns) / (pc.peak_bytes_per_second / 1e9) AS percent_of_peak,
  c.median_ns / nullif(b.hops, 0) AS ns_per_hop,
  c.median_ns / nullif(b.operations, 0) AS ns_per_op,
  c.median_cycles AS median_cycles,
  c.median_cycles / nullif(b.operations, 0) AS cycles_per_op,
  pc.operations_per_sm / c.median_cycles AS ops_per_clock_sm,
  CASE WHEN c.clock = 'kernel' THEN 1e3 * c.median_cycles / c.median_ns END AS kernel_clock_mhz,
  CASE WHEN t.at_ns >= c.started_at_ns THEN
      (SELECT avg(u.sm_clock_khz) FROM telemetry u
       WHERE u.run = c.run AND u.gpu = t.gpu AND u.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns)
    ELSE t.sm_clock_khz END / 1e3 AS sm_clock_mhz,
  CASE WHEN t.at_ns >= c.started_at_ns THEN
      (SELECT avg(u.power_mw) FROM telemetry u
       WHERE u.run = c.run AND u.gpu = t.gpu AND u.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns)
    ELSE t.power_mw END / 1e3 AS power_w,
  CASE WHEN t.at_ns >= c.started_at_ns THEN
      (SELECT avg(u.temperature_c) FROM telemetry u
       WHERE u.run = c.run AND u.gpu = t.gpu AND u.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns)
    ELSE CAST(t.temperature_c AS REAL) END AS temperature_c,
  c.allocate_ns AS allocate_ns,
  c.measure_ns AS measure_ns,
  c.verify_ns AS verify_ns,
  c.total_ns AS total_ns,
  s.name AS scenario,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated,
  pc.delta AS delta,
  -- Of several flows the group that the path names, "gpu0..3"; NULL where it names none.
  CASE
    WHEN f1.ordinal IS NULL OR f.ordinal IS NULL
      OR f.ordinal = (SELECT max(g.ordinal) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured')
      THEN b.source_place || b.source_index
    WHEN instr(b.path, '-') > 0 THEN substr(b.path, 1, instr(replace(b.path, ':', '-'), '-') - 1)
  END AS source,
  CASE
    WHEN f1.ordinal IS NULL OR f.ordinal IS NULL
      OR f.ordinal = (SELECT max(g.ordinal) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured')
      THEN b.target_place || b.target_index
    WHEN instr(b.path, '-') > 0
      THEN substr(ltrim(substr(b.path, instr(b.path, '-')), '-'), 1,
        instr(ltrim(substr(b.path, instr(b.path, '-')), '-') || ':', ':') - 1)
  END AS target,
  nullif(dg.uuid, '') AS gpu_uuid,
  nullif(dg.pci_address, '') AS gpu_pci_address,
  nullif(ds.uuid, '') AS source_uuid,
  nullif(dt.uuid, '') AS target_uuid,
  c.median_low_ns AS low_ns,
  c.median_high_ns AS high_ns,
  b.id AS bench_case,
  CASE WHEN n0.ordinal >= 0 THEN
    (SELECT group_concat(v.text, '; ') FROM v_note v WHERE v.case_run = c.id AND v.slows) END AS slowed_by,
  (coalesce(c.cpu_before_khz, c.cpu_after_khz) + coalesce(c.cpu_after_khz, c.cpu_before_khz)) / 2e3 AS cpu_mhz,
  e.node AS node,
  c.noise AS noise,
  100 * c.noise_size AS noise_percent,
  c.noise_ns AS noise_ns,
  CASE WHEN t.at_ns >= c.started_at_ns THEN
    (SELECT sum(y.joules) / max(y.gigabytes) FROM v_energy y WHERE y.case_run = c.id
     HAVING sum(y.joules_error) < 0.25 * sum(y.joules)) END AS joules_per_gb,
  CASE WHEN t.at_ns >= c.started_at_ns THEN
    (SELECT sum(y.joules_error) / max(y.gigabytes) FROM v_energy y WHERE y.case_run = c.id
     HAVING sum(y.joules_error) < 0.25 * sum(y.joules)) END AS joules_per_gb_error,
  c.cache_warm_ns AS cache_warm_ns,
  c.cache_flushed_ns AS cache_flushed_ns,
  nullif(f.kernel_variant, 'auto') AS kernel_variant,
  b.access AS access,
  c.cpus AS cpus,
  f.pieces AS pieces, f.piece_bytes AS piece_bytes, f.piece_places AS piece_places, f.submit AS submit,
  c.median_submit_ns AS submit_ns, c.median_gpu_ns AS gpu_ns,
  nullif(b.payload_bytes, 0) / c.median_gpu_ns AS gpu_gbps,
  100.0 * (nullif(pc.traffic_bytes, 0) / c.median_ns) / (pc.peak_bytes_per_second / 1e9) > 101 AS above_peak,
  coalesce(c.visits, CASE WHEN c.process IS NOT NULL THEN 1 END) AS visits,
  c.settled AS settled,
  c.undisturbed_ns AS undisturbed_ns,
  nullif(b.payload_bytes, 0) / c.undisturbed_ns AS undisturbed_gbps,
  nullif(b.payload_bytes, 0) / c.undisturbed_high_ns AS undisturbed_gbps_low,
  nullif(b.payload_bytes, 0) / c.undisturbed_low_ns AS undisturbed_gbps_high,
  100 * c.disturbed_share AS disturbed_percent,
  100 * c.disturbed_most / (1 + c.disturbed_most) AS disturbed_slower_percent,
  b.alive AS alive, b.nodes AS nodes,
  c.call_first_ns AS call_first_ns, c.call_median_ns AS call_median_ns, c.call_p99_ns AS call_p99_ns,
  r.started_at_ns AS started_at_ns, e.driver_number AS driver_number, r.pruned_at_ns IS NOT NULL AS pruned,
  coalesce(f.graph, 0) AS graph, f.piece_run AS piece_run,
  c.started_at_ns AS case_started_at_ns,
  c.ended_at_ns AS case_ended_at_ns,
  pc.precision AS precision,
  CASE b.kind WHEN 'compute' THEN b.operations / c.median_ns / 1e3 END AS tflops,
  CASE WHEN pc.limited_by IN ('fma', 'tensor') THEN pc.peak_bytes_per_second / 1e12 END AS peak_tflops,
  nullif(pc.traffic_bytes, 0) AS limited_amount, pc.peak_bytes_per_second / 1e9 AS limited_per_ns,
  f.compute_sm_percent AS sm_percent, nullif(f.compute_intensity, 0) AS intensity,
  CASE WHEN b.kind IN ('transfer', 'signal') THEN coalesce(f.source_process, 0) END AS source_process,
  f.source_share AS source_share,
  CASE WHEN b.kind = 'transfer' THEN coalesce(f.target_process, 0) END AS target_process,
  f.target_share AS target_share, c.share_export_ns AS share_export_ns, c.share_open_first_ns AS share_open_first_ns,
  c.share_open_ns AS share_open_ns, c.share_close_ns AS share_close_ns, b.handles AS handles,
  CASE WHEN f.compute_op IS NOT NULL THEN coalesce(f.compute_sm_share, 'blocks') END AS sm_share
  /* settings of b */
FROM case_run c
JOIN run r ON r.id = c.run
JOIN v_machine e ON e.environment = r.environment
JOIN scenario s ON s.id = r.scenario
JOIN bench_case b ON b.id = c.bench_case
JOIN plan_case pc ON pc.run = c.run AND pc.bench_case = c.bench_case
LEFT JOIN process p ON p.id = c.process
LEFT JOIN flow f0 ON f0.bench_case = b.id AND f0.ordinal = 0
LEFT JOIN flow f1 ON f1.bench_case = b.id AND f1.ordinal = 1
LEFT JOIN flow f ON f.bench_case = b.id
  AND f.ordinal = CASE f0.role WHEN 'measured' THEN 0 ELSE
    (SELECT min(g.ordinal) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured') END
LEFT JOIN device dg ON dg.environment = r.environment AND dg.place = 'gpu' AND dg.number = b.gpu
LEFT JOIN device ds ON ds.environment = r.environment AND ds.place = b.source_place AND ds.number = b.source_index
LEFT JOIN device dt ON dt.environment = r.environment AND dt.place = b.target_place AND dt.number = b.target_index
LEFT JOIN case_note n0 ON n0.case_run = c.id AND n0.ordinal = (SELECT min(n.ordinal) FROM case_note n WHERE n.case_run = c.id)
-- The last sample of its GPU before its end.
LEFT JOIN telemetry t ON t.run = c.run AND t.gpu = b.gpu
  AND t.at_ns = (SELECT max(u.at_ns) FROM telemetry u
    WHERE u.run = c.run AND u.gpu = b.gpu AND u.at_ns <= c.ended_at_ns);

CREATE VIEW v_run_case AS
SELECT
  c.run AS run,
  c.run_uuid AS run_uuid,
  c.tag AS tag,
  c.started_at AS started_at,
  c.position AS position,
  c.kind AS kind,
  c.block AS block,
  c.case_name AS case_name,
  c.case_key AS case_key,
  c.path AS path,
  c.axes AS axes,
  c.method AS method,
  c.operation AS operation,
  c.direction AS direction,
  c.source_place AS source_place,
  c.source_index AS source_index,
  c.source_memory AS source_memory,
  c.target_place AS target_place,
  c.target_index AS target_index,
  c.target_memory AS target_memory,
  c.flows AS flows,
  c.size_bytes AS size_bytes,
  c.payload_bytes AS payload_bytes,
  c.stride_bytes AS stride_bytes,
  c.space AS space,
  c.hop_order AS hop_order,
  c.cache AS cache,
  c.number_type AS number_type,
  c.measure AS measure,
  c.ilp AS ilp,
  c.passes AS passes,
  c.threads AS threads,
  c.block_threads AS block_threads,
  c.grid_blocks AS grid_blocks,
  c.status AS status,
  c.reason AS reason,
  c.note AS note,
  m.processes AS processes,
  m.n AS n,
  m.median_ns AS median_ns,
  m.low_ns AS low_ns,
  m.high_ns AS high_ns,
  c.payload_bytes / m.median_ns AS gbps,
  c.payload_bytes / m.high_ns AS gbps_low,
  c.payload_bytes / m.low_ns AS gbps_high,
  c.peak_gbps AS peak_gbps,
  c.limited_by AS limited_by,
  100.0 * (c.limited_amount / m.median_ns) / c.limited_per_ns AS percent_of_peak,
  m.median_ns / nullif(c.hops, 0) AS ns_per_hop,
  m.median_ns / c.operations AS ns_per_op,
  m.median_cycles AS median_cycles,
  m.median_cycles / c.operations AS cycles_per_op,
  c.ops_per_clock_sm * c.median_cycles / m.median_cycles AS ops_per_clock_sm,
  c.scenario AS scenario,
  c.host_name AS host_name,
  c.driver_version AS driver_version,
  c.gpu_name AS gpu_name,
  c.simulated AS simulated,
  c.initiator AS initiator,
  c.gpu AS gpu,
  c.source AS source,
  c.target AS target,
  c.gpu_uuid AS gpu_uuid,
  c.gpu_pci_address AS gpu_pci_address,
  c.source_uuid AS source_uuid,
  c.target_uuid AS target_uuid,
  c.bench_case AS bench_case,
  m.slowed_by AS slowed_by,
  c.node AS node,
  k.noise AS noise,
  100 * k.noise_size AS noise_percent,
  k.noise_ns AS noise_ns,
  c.pieces AS pieces, c.piece_bytes AS piece_bytes, c.piece_places AS piece_places, c.submit AS submit,
  100.0 * (c.limited_amount / m.median_ns) / c.limited_per_ns > 101 AS above_peak,
  m.visits AS visits,
  m.settled AS settled,
  m.undisturbed_ns AS undisturbed_ns,
  c.payload_bytes / m.undisturbed_ns AS undisturbed_gbps,
  m.disturbed_percent AS disturbed_percent,
  100 * m.disturbed_most / (1 + m.disturbed_most) AS disturbed_slower_percent,
  c.started_at_ns AS started_at_ns,
  c.driver_number AS driver_number,
  c.loads AS loads,
  coalesce(k.stop, c.stop) AS stop,
  coalesce(k.stop, c.stop) = 'precision' AS converged,
  c.precision AS precision,
  CASE c.kind WHEN 'compute' THEN c.operations / m.median_ns / 1e3 END AS tflops,
  c.peak_tflops AS peak_tflops, c.sm_percent AS sm_percent, c.intensity AS intensity,
  c.source_process AS source_process, c.source_share AS source_share, c.target_process AS target_process,
  c.target_share AS target_share, c.share_export_ns AS share_export_ns, c.share_open_first_ns AS share_open_first_ns,
  c.share_open_ns AS share_open_ns, c.share_close_ns AS share_close_ns, c.handles AS handles, c.sm_share AS sm_share
  /* settings of c */
FROM v_case c
JOIN (
  SELECT x.id,
    (SELECT count(*) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS processes,
    (SELECT ifnull(sum(y.n), 0) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS n,
    -- The one or two values that have at most half of the others on either side.
    (SELECT avg(DISTINCT y.median_ns) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok'
       AND (SELECT max(2 * sum(z.median_ns < y.median_ns), 2 * sum(z.median_ns > y.median_ns))
                   <= count(*)
            FROM case_run z
            WHERE z.run = y.run AND z.bench_case = y.bench_case AND z.status = 'ok'))
      AS median_ns,
    (SELECT avg(DISTINCT y.median_cycles) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok'
       AND (SELECT max(2 * sum(z.median_cycles < y.median_cycles),
                       2 * sum(z.median_cycles > y.median_cycles)) <= count(*)
            FROM case_run z
            WHERE z.run = y.run AND z.bench_case = y.bench_case AND z.status = 'ok'))
      AS median_cycles,
    (SELECT avg(DISTINCT y.undisturbed_ns) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok'
       AND (SELECT max(2 * sum(z.undisturbed_ns < y.undisturbed_ns), 2 * sum(z.undisturbed_ns > y.undisturbed_ns))
                   <= count(z.undisturbed_ns)
            FROM case_run z
            WHERE z.run = y.run AND z.bench_case = y.bench_case AND z.status = 'ok'))
      AS undisturbed_ns,
    (SELECT sum(coalesce(y.visits, 1)) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS visits,
    -- In the order of the words: budget before noise before settled.
    (SELECT min(y.settled) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS settled,
    (SELECT 100 * sum(y.disturbed_share * y.n) / sum(y.n) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok' AND y.disturbed_share IS NOT NULL)
      AS disturbed_percent,
    (SELECT max(y.disturbed_most) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS disturbed_most,
    (SELECT group_concat(v.text, '; ') FROM v_note v
     WHERE v.slows AND v.case_run = (
       SELECT y.id FROM case_run y JOIN v_note s ON s.case_run = y.id AND s.slows
       WHERE y.run = x.run AND y.bench_case = x.bench_case ORDER BY y.process LIMIT 1)) AS slowed_by,
    -- Of the processes that were not precise, the first whose noise has a pattern, else the first.
    (SELECT y.id FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.noise IS NOT NULL
     ORDER BY y.noise IN ('white', 'unknown'), y.process LIMIT 1) AS noisy,
    (SELECT CASE WHEN count(*) > 1 THEN min(y.median_ns) ELSE min(y.median_low_ns) END
     FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS low_ns,
    (SELECT CASE WHEN count(*) > 1 THEN max(y.median_ns) ELSE max(y.median_high_ns) END
     FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS high_ns
  FROM case_run x
  -- Of the processes, the one that tells most: one that went wrong, else the first.
  WHERE x.id = (SELECT y.id FROM case_run y
                WHERE y.run = x.run AND y.bench_case = x.bench_case
                ORDER BY y.status = 'ok', y.process, y.id LIMIT 1)) m ON m.id = c.case_run
LEFT JOIN case_run k ON k.id = m.noisy;

-- One row per case of a run, as v_run_case, with the one number that diff compares: a rate where bytes are moved, else
-- a time, per access of a chase and per instruction of a chain.
CREATE VIEW v_result AS
SELECT
  run,
  tag,
  scenario,
  case_name,
  source,
  target,
  size_bytes,
  coalesce(gbps, tflops, ns_per_hop, ns_per_op, median_ns) AS value,
  CASE WHEN gbps IS NOT NULL THEN 'GB/s' WHEN tflops IS NOT NULL THEN 'TFLOP/s' WHEN median_ns IS NOT NULL THEN 'ns' END AS unit,
  coalesce(gbps_low, tflops * median_ns / high_ns, low_ns / (median_ns / coalesce(ns_per_hop, ns_per_op, median_ns))) AS low,
  coalesce(gbps_high, tflops * median_ns / low_ns, high_ns / (median_ns / coalesce(ns_per_hop, ns_per_op, median_ns))) AS high,
  percent_of_peak,
  processes,
  status,
  coalesce(reason, nullif(substr(
    ifnull('; ' || slowed_by, '')
    || CASE
         WHEN noise IS NULL THEN ''
         WHEN visits >= 2 * processes THEN printf('; noisy: measured %d times, %s', visits,
           CASE WHEN undisturbed_ns IS NULL THEN 'without an undisturbed rate' ELSE 'with an undisturbed rate' END)
         ELSE printf('; precision target missed when %s ended', CASE stop WHEN 'time' THEN 'max_time' ELSE 'trials.max' END)
       END
    || ifnull('; ' || note, ''), 3), '')) AS remark,
  node,
  driver_version,
  flows,
  loads,
  converged,
  started_at,
  block,
  method
FROM v_run_case;

-- Every place of a plan at which a result is shown: the cases, and the settings that come to one of them.
CREATE VIEW v_place AS
SELECT p.run AS run, r.uuid AS run_uuid, r.tag AS tag, coalesce(p.listed, p.position) AS listed,
  p.position AS position, p.bench_case AS bench_case, b.block AS block, b.name AS case_name,
  b.axes AS axes, b.case_key AS case_key, NULL AS same_as, NULL AS same_block, NULL AS same_axes
FROM plan_case p
JOIN run r ON r.id = p.run
JOIN bench_case b ON b.id = p.bench_case
UNION ALL
SELECT a.run, r.uuid, r.tag, a.listed,
  p.position, p.bench_case, n.block, n.name,
  n.axes, n.case_key, b.name, b.block, b.axes
FROM plan_alias a
JOIN plan_case p ON p.run = a.run AND p.bench_case = a.measured_by
JOIN run r ON r.id = a.run
JOIN bench_case n ON n.id = a.bench_case
JOIN bench_case b ON b.id = p.bench_case;

CREATE VIEW v_pair AS
SELECT
  run,
  run_uuid,
  tag,
  block,
  axes,
  case_name,
  case_key,
  kind,
  method,
  direction,
  size_bytes,
  source_place,
  source_index,
  source_memory,
  target_place,
  target_index,
  target_memory,
  source,
  target,
  status,
  reason,
  processes,
  median_ns,
  gbps,
  percent_of_peak,
  ns_per_hop,
  host_name,
  driver_version,
  gpu_name,
  simulated,
  scenario,
  started_at,
  position,
  n,
  low_ns,
  high_ns,
  gbps_low,
  gbps_high,
  peak_gbps,
  limited_by,
  initiator,
  gpu,
  gpu_uuid,
  gpu_pci_address,
  source_uuid,
  target_uuid,
  node,
  above_peak,
  flows,
  loads,
  source_process, source_share, target_process, target_share,
  -- Both ends are on the node that measures; a case between nodes would have two.
  node AS source_node,
  node AS target_node
FROM v_run_case
WHERE kind NOT IN ('compute', 'signal') AND (flows = 1 OR (flows = 2 AND direction = 'both') OR kind = 'chase');

-- Not one pass over all results: what a query asks of cases, machines and drivers leaves the rows to look at, before their
-- results are read through indexes. (Conditions on columns of GROUP BY go into the subquery; one text of nine numbers is
-- one pass where nine subqueries were nine.)
CREATE VIEW v_driver AS
SELECT
  v.case_key AS case_key,
  c.kind AS kind,
  c.block AS block,
  v.case_name AS case_name,
  c.path AS path,
  c.axes AS axes,
  c.method AS method,
  c.operation AS operation,
  c.size_bytes AS size_bytes,
  c.payload_bytes AS payload_bytes,
  v.host_name AS host_name,
  v.gpu_name AS gpu_name,
  v.driver_version AS driver_version,
  v.driver_branch AS driver_branch,
  v.simulated AS simulated,
  v.runs AS runs,
  v.processes AS processes,
  v.n AS n,
  v.median_ns AS median_ns,
  v.low_ns AS low_ns,
  v.high_ns AS high_ns,
  100.0 * (v.high_ns - v.low_ns) / v.median_ns AS spread_percent,
  c.payload_bytes / v.median_ns AS gbps,
  c.payload_bytes / v.high_ns AS gbps_low,
  c.payload_bytes / v.low_ns AS gbps_high,
  v.median_ns / nullif(c.hops, 0) AS ns_per_hop,
  v.median_ns / c.operations AS ns_per_op,
  strftime('%Y-%m-%dT%H:%M:%SZ', v.first_ns / 1000000000, 'unixepoch') AS first_run_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', v.last_ns / 1000000000, 'unixepoch') AS last_run_at,
  c.direction AS direction,
  c.source_place AS source_place,
  c.source_index AS source_index,
  c.source_memory AS source_memory,
  c.target_place AS target_place,
  c.target_index AS target_index,
  c.target_memory AS target_memory,
  c.initiator AS initiator,
  c.source AS source,
  c.target AS target,
  c.gpu AS gpu,
  -- NULL: the runs found different cards at that place.
  (SELECT CASE WHEN count(DISTINCT d.uuid) = 1 THEN nullif(min(d.uuid), '') END
   FROM v_machine e
   JOIN run r ON r.environment = e.environment
   JOIN bench_case k
   CROSS JOIN case_run y ON y.run = r.id AND y.bench_case = k.id AND y.status = 'ok'
   JOIN device d ON d.environment = e.environment AND d.place = 'gpu' AND d.number = c.gpu
   WHERE k.case_key = v.case_key AND e.host_name = v.host_name AND e.node = v.node AND e.gpu_name IS v.gpu_name
     AND e.driver_version IS v.driver_version AND e.simulated = v.simulated) AS gpu_uuid,
  c.gpu_pci_address AS gpu_pci_address,
  c.peak_gbps AS peak_gbps,
  100.0 * (c.limited_amount / v.median_ns) / c.limited_per_ns AS percent_of_peak,
  v.node AS node,
  100.0 * (c.limited_amount / v.median_ns) / c.limited_per_ns > 101 AS above_peak,
  v.driver_number AS driver_number,
  c.flows AS flows,
  c.loads AS loads,
  CASE c.kind WHEN 'compute' THEN c.operations / v.median_ns / 1e3 END AS tflops
FROM (
  SELECT w.*,
    CAST(substr(w.packed, 1, 28) AS INTEGER) AS runs,
    CAST(substr(w.packed, 29, 28) AS INTEGER) AS processes,
    CAST(substr(w.packed, 57, 28) AS INTEGER) AS n,
    CAST(substr(w.packed, 85, 28) AS INTEGER) AS latest,
    CAST(substr(w.packed, 113, 28) AS REAL) AS median_ns,
    CAST(substr(w.packed, 141, 28) AS REAL) AS low_ns,
    CAST(substr(w.packed, 169, 28) AS REAL) AS high_ns,
    CAST(substr(w.packed, 197, 28) AS INTEGER) AS first_ns,
    CAST(substr(w.packed, 225, 28) AS INTEGER) AS last_ns
  FROM (
    SELECT b.id AS bench_case, b.name AS case_name, b.case_key AS case_key, g.host_name AS host_name, g.node AS node,
      g.gpu_name AS gpu_name, g.driver_version AS driver_version, g.driver_branch AS driver_branch,
      g.driver_number AS driver_number, g.simulated AS simulated,
      (SELECT printf('%28d%28d%28d%28d%!28.17g%!28.17g%!28.17g%28d%28d', count(DISTINCT run), count(*), sum(n),
         -- The latest result under the name that was recorded last: ids below 2^31 each.
         max((bench_case << 31) + id), avg(CASE WHEN 2 * i BETWEEN m AND m + 2 THEN median_ns END), min(median_ns),
         max(median_ns), min(started_at_ns), max(started_at_ns))
       FROM (
         SELECT c.run, c.bench_case, c.id, c.median_ns, c.n, r.started_at_ns,
           row_number() OVER (ORDER BY c.median_ns) AS i, count(*) OVER () AS m
         FROM v_machine e
         JOIN run r ON r.environment = e.environment
         JOIN bench_case k
         CROSS JOIN case_run c ON c.bench_case = k.id AND c.run = r.id
         WHERE k.case_key = b.case_key AND e.host_name = g.host_name AND e.node = g.node AND e.gpu_name IS g.gpu_name
           AND e.driver_version IS g.driver_version AND e.simulated = g.simulated
           AND c.status = 'ok' AND c.median_ns IS NOT NULL)) AS packed
    FROM bench_case b
    JOIN (SELECT DISTINCT host_name, node, gpu_name, driver_version, driver_branch, driver_number, simulated
          FROM v_machine) g
    GROUP BY b.id, b.name, b.case_key, g.host_name, g.node, g.gpu_name, g.driver_version, g.driver_branch,
      g.driver_number, g.simulated) w) v
JOIN v_case c ON c.case_run = v.latest & 2147483647
-- Not of v alone: SQLite would ask it of each group first, and summarize all results twice.
WHERE c.bench_case = v.bench_case;
