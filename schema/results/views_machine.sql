-- Views of the machines that were measured: their GPUs, checks, facts and samples, and the nodes of a fleet. As views.sql,
-- after which they are made.

-- Bits of telemetry.throttle_reasons: NVML's nvmlClocksEventReason*.
CREATE VIEW v_throttle (bit, name, slows) AS
VALUES (1, 'idle', 0), (2, 'applications_clocks', 0), (4, 'sw_power_cap', 1), (8, 'hw_slowdown', 1),
  (16, 'sync_boost', 1), (32, 'sw_thermal', 1), (64, 'hw_thermal', 1), (128, 'hw_power_brake', 1),
  (256, 'display_clocks', 0);

CREATE VIEW v_telemetry AS
SELECT
  t.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  strftime('%Y-%m-%dT%H:%M:%fZ', t.at_ns / 1e9, 'unixepoch') AS sampled_at,
  (t.at_ns - r.started_at_ns) / 1e9 AS at_s,
  t.gpu AS gpu,
  nullif(d.uuid, '') AS gpu_uuid,
  nullif(d.pci_address, '') AS gpu_pci_address,
  t.sm_clock_khz / 1e3 AS sm_clock_mhz,
  t.memory_clock_khz / 1e3 AS memory_clock_mhz,
  t.power_mw / 1e3 AS power_w,
  t.temperature_c AS temperature_c,
  t.utilization_percent AS utilization_percent,
  t.pcie_generation AS pcie_generation,
  t.pcie_width AS pcie_width,
  t.throttle_reasons AS throttle_reasons,
  (SELECT group_concat(w.name, ', ') FROM v_throttle w
   WHERE w.slows AND t.throttle_reasons & w.bit) AS slowed_by,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  coalesce(d.name, e.gpu_name) AS gpu_name,
  e.simulated AS simulated,
  t.other_processes AS other_processes,
  e.node AS node,
  t.energy_mj / 1e3 AS energy_j,
  t.memory_temperature_c AS memory_temperature_c,
  t.pcie_replays AS pcie_replays,
  t.nvlink_errors AS nvlink_errors,
  t.ecc_corrected AS ecc_corrected,
  t.ecc_uncorrected AS ecc_uncorrected,
  t.rows_remapped AS rows_remapped,
  t.xid_count AS xid_count,
  t.xid AS xid,
  t.at_ns AS at_ns
FROM telemetry t
JOIN run r ON r.id = t.run
JOIN v_machine e ON e.environment = r.environment
LEFT JOIN device d ON d.environment = r.environment AND d.place = 'gpu' AND d.number = t.gpu;

-- The counter stands between its values in the samples before and after a moment, so that the energy of a case has a
-- lower and an upper bound. Where it stands still between samples (an H200's steps every 0.1 s), a value may be as old
-- as a whole step. Without trials that took several samples there is no lower bound, and no row.
CREATE VIEW v_energy AS
SELECT
  x.run AS run,
  x.process AS process,
  x.case_run AS case_run,
  x.gpu AS gpu,
  (x.to_ns - x.from_ns) / 1e9 AS seconds,
  x.bytes / 1e9 AS gigabytes,
  (x.least_mj + x.most_mj) / 2e3 AS joules,
  (x.most_mj - x.least_mj) / 2e3 + ifnull(x.step_mj, 0) / 1e3 AS joules_error
FROM (
  SELECT w.*,
    (SELECT t.energy_mj FROM telemetry t
     WHERE t.run = w.run AND t.gpu = w.gpu AND t.at_ns <= w.to_ns ORDER BY t.at_ns DESC LIMIT 1)
    - (SELECT t.energy_mj FROM telemetry t
       WHERE t.run = w.run AND t.gpu = w.gpu AND t.at_ns >= w.from_ns ORDER BY t.at_ns LIMIT 1) AS least_mj,
    (SELECT t.energy_mj FROM telemetry t
     WHERE t.run = w.run AND t.gpu = w.gpu AND t.at_ns >= w.to_ns ORDER BY t.at_ns LIMIT 1)
    - (SELECT t.energy_mj FROM telemetry t
       WHERE t.run = w.run AND t.gpu = w.gpu AND t.at_ns <= w.from_ns ORDER BY t.at_ns DESC LIMIT 1) AS most_mj,
    (SELECT CASE min(s.step_mj) WHEN 0 THEN max(s.step_mj) ELSE 0 END FROM (
       SELECT t.energy_mj - lag(t.energy_mj) OVER (ORDER BY t.at_ns) AS step_mj FROM telemetry t
       WHERE t.run = w.run AND t.gpu = w.gpu AND t.at_ns BETWEEN w.from_ns AND w.to_ns) s) AS step_mj
  FROM (
    SELECT c.run AS run, (SELECT p.ordinal FROM process p WHERE p.id = c.process) AS process, c.id AS case_run,
      d.number AS gpu, c.ended_at_ns AS to_ns,
      c.started_at_ns + (SELECT min(t.start_ns) FROM trial t
                         WHERE t.case_run = c.id AND t.phase = 1) AS from_ns,
      b.payload_bytes * (SELECT sum(t.iterations) FROM trial t
                         WHERE t.case_run = c.id AND t.phase = 1) AS bytes
    FROM case_run c
    JOIN run r ON r.id = c.run
    JOIN bench_case b ON b.id = c.bench_case
    JOIN device d ON d.environment = r.environment AND d.place = 'gpu'
    WHERE c.status = 'ok' AND b.payload_bytes > 0
      -- Most cases are over before the next sample.
      AND EXISTS (SELECT 1 FROM telemetry t
        WHERE t.run = c.run AND t.gpu = d.number AND t.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns)
      AND (EXISTS (SELECT 1 FROM flow f WHERE f.bench_case = b.id
                   AND (f.source_place = 'gpu' AND f.source_index = d.number
                        OR f.target_place = 'gpu' AND f.target_index = d.number OR f.gpu = d.number))
           OR b.gpu = d.number)) w) x
WHERE x.least_mj > 0 AND (x.most_mj > x.least_mj OR x.step_mj > 0);

CREATE VIEW v_gpu AS
SELECT
  r.id AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  c.name AS scenario,
  d.number AS gpu,
  nullif(d.uuid, '') AS gpu_uuid,
  nullif(d.pci_address, '') AS gpu_pci_address,
  d.name AS gpu_name,
  d.numa_node AS numa_node,
  d.cuda_ordinal AS cuda_ordinal,
  d.compute_major || '.' || d.compute_minor AS compute_capability,
  d.sm_count AS sm_count,
  d.copy_engine_count AS copy_engine_count,
  nullif(d.memory_bytes, 0) AS memory_bytes,
  nullif(d.l2_bytes, 0) AS l2_bytes,
  nullif(d.sm_clock_max_khz, 0) / 1e3 AS sm_clock_max_mhz,
  nullif(d.memory_clock_khz, 0) / 1e3 AS memory_clock_mhz,
  nullif(d.memory_bus_bits, 0) AS memory_bus_bits,
  nullif(d.pcie_generation_max, 0) AS pcie_generation_max,
  nullif(d.pcie_width_max, 0) AS pcie_width_max,
  d.nvlink_count AS nvlink_count,
  nullif(d.nvlink_bytes_per_second, 0) / 1e9 AS nvlink_gbps,
  nullif(d.c2c_bytes_per_second, 0) / 1e9 AS c2c_gbps,
  d.mig_enabled AS mig_enabled,
  -- One by one: each reads the samples of one GPU in one run, and a join would read those of all runs.
  nullif((SELECT count(*) FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number), 0) AS samples,
  (SELECT min(t.sm_clock_khz) / 1e3 FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number)
    AS sm_clock_mhz_low,
  (SELECT max(t.sm_clock_khz) / 1e3 FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number)
    AS sm_clock_mhz_high,
  (SELECT max(t.power_mw) / 1e3 FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number)
    AS power_w_high,
  (SELECT max(t.temperature_c) FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number)
    AS temperature_c_high,
  (SELECT max(t.pcie_generation) FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number)
    AS pcie_generation,
  (SELECT max(t.pcie_width) FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number) AS pcie_width,
  (SELECT 100.0 * avg((t.throttle_reasons & (SELECT sum(w.bit) FROM v_throttle w WHERE w.slows)) <> 0)
   FROM telemetry t WHERE t.run = r.id AND t.gpu = d.number) AS slowed_percent,
  (SELECT group_concat(w.name, ', ') FROM v_throttle w
   WHERE w.slows AND EXISTS (
     SELECT 1 FROM telemetry t
     WHERE t.run = r.id AND t.gpu = d.number AND t.throttle_reasons & w.bit)) AS slowed_by,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.kernel AS kernel,
  e.simulated AS simulated,
  e.node AS node,
  (SELECT v.value FROM environment_fact v
   WHERE v.environment = r.environment AND v.name = 'vbios' AND v.gpu = d.number AND v.state = 'ok') AS vbios
FROM run r
JOIN v_machine e ON e.environment = r.environment
JOIN scenario c ON c.id = r.scenario
JOIN device d ON d.environment = r.environment AND d.place = 'gpu';

CREATE VIEW v_check AS
SELECT
  k.run AS run,
  r.run_uuid AS run_uuid,
  r.tag AS tag,
  r.started_at AS started_at,
  r.scenario AS scenario,
  strftime('%Y-%m-%dT%H:%M:%SZ', k.checked_at_ns / 1000000000, 'unixepoch') AS checked_at,
  k.name AS check_name,
  k.status AS status,
  k.want AS want,
  k.found AS found,
  k.on_fail AS on_fail,
  nullif(k.gpu, -1) AS gpu,
  nullif(d.uuid, '') AS gpu_uuid,
  nullif(d.pci_address, '') AS gpu_pci_address,
  r.host_name AS host_name,
  r.driver_version AS driver_version,
  coalesce(d.name, r.gpu_name) AS gpu_name,
  r.simulated AS simulated,
  k.on_unknown AS on_unknown,
  r.node AS node
FROM check_result k
JOIN run x ON x.id = k.run
JOIN v_run r ON r.run = k.run
LEFT JOIN device d ON d.environment = x.environment AND d.place = 'gpu' AND d.number = k.gpu;

CREATE VIEW v_fact AS
SELECT
  r.id AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  f.name AS fact,
  nullif(f.gpu, -1) AS gpu,
  nullif(d.uuid, '') AS gpu_uuid,
  nullif(d.pci_address, '') AS gpu_pci_address,
  CASE f.state WHEN 'ok' THEN f.value END AS value,
  f.state AS state,
  CASE WHEN f.state <> 'ok' THEN f.value END AS reason,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  coalesce(d.name, e.gpu_name) AS gpu_name,
  e.simulated AS simulated,
  e.environment_key AS environment_key,
  e.node AS node
FROM run r
JOIN v_machine e ON e.environment = r.environment
JOIN environment_fact f ON f.environment = r.environment
LEFT JOIN device d ON d.environment = r.environment AND d.place = 'gpu' AND d.number = f.gpu
UNION ALL
SELECT
  r.id, r.uuid, r.tag, strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch'), f.name,
  NULL, NULL, NULL, f.value, 'ok', NULL, e.host_name, e.driver_version, e.gpu_name, e.simulated, e.environment_key,
  e.node
FROM run_fact f
JOIN run r ON r.id = f.run
JOIN v_machine e ON e.environment = r.environment;

-- Since when, and until when, runs found a card at its place.
CREATE VIEW v_card AS
SELECT
  nullif(d.uuid, '') AS gpu_uuid,
  d.name AS gpu_name,
  d.number AS gpu,
  nullif(d.pci_address, '') AS gpu_pci_address,
  e.node AS node,
  strftime('%Y-%m-%dT%H:%M:%SZ', min(r.started_at_ns) / 1000000000, 'unixepoch') AS first_seen,
  strftime('%Y-%m-%dT%H:%M:%SZ', max(r.started_at_ns) / 1000000000, 'unixepoch') AS last_seen,
  count(*) AS runs,
  e.simulated AS simulated
FROM v_machine e
JOIN device d ON d.environment = e.environment AND d.place = 'gpu'
JOIN run r ON r.environment = e.environment
GROUP BY d.uuid, d.name, e.node, d.number, d.pci_address, e.simulated;

-- Since when, and until when, a machine ran anything.
CREATE VIEW v_host AS
SELECT
  e.node AS node,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.gpu_count AS gpu_count,
  strftime('%Y-%m-%dT%H:%M:%SZ', l.first_ns / 1000000000, 'unixepoch') AS first_seen,
  strftime('%Y-%m-%dT%H:%M:%SZ', l.last_ns / 1000000000, 'unixepoch') AS last_seen,
  l.runs AS runs,
  l.run AS last_run,
  e.simulated AS simulated
FROM (
  SELECT r.id AS run, r.environment AS environment,
    row_number() OVER (PARTITION BY m.node, m.simulated ORDER BY r.started_at_ns DESC, r.id DESC) AS age,
    min(r.started_at_ns) OVER (PARTITION BY m.node, m.simulated) AS first_ns,
    max(r.started_at_ns) OVER (PARTITION BY m.node, m.simulated) AS last_ns,
    count(*) OVER (PARTITION BY m.node, m.simulated) AS runs
  FROM run r JOIN v_machine m ON m.environment = r.environment) l
JOIN v_machine e ON e.environment = l.environment
WHERE l.age = 1;

-- Since when, and until when, runs found a fact to be so: "when did the VBIOS of this GPU change?"
CREATE VIEW v_fact_seen AS
SELECT
  e.node AS node,
  f.name AS fact,
  nullif(f.gpu, -1) AS gpu,
  nullif(d.uuid, '') AS gpu_uuid,
  CASE f.state WHEN 'ok' THEN f.value END AS value,
  f.state AS state,
  strftime('%Y-%m-%dT%H:%M:%SZ', min(t.first_ns) / 1000000000, 'unixepoch') AS first_seen,
  strftime('%Y-%m-%dT%H:%M:%SZ', max(t.last_ns) / 1000000000, 'unixepoch') AS last_seen,
  sum(t.runs) AS runs,
  e.simulated AS simulated
FROM v_machine e
JOIN (
  SELECT environment, min(started_at_ns) AS first_ns, max(started_at_ns) AS last_ns, count(*) AS runs
  FROM run GROUP BY environment) t ON t.environment = e.environment
JOIN environment_fact f ON f.environment = e.environment
LEFT JOIN device d ON d.environment = e.environment AND d.place = 'gpu' AND d.number = f.gpu
GROUP BY e.node, f.name, f.gpu, d.uuid, CASE f.state WHEN 'ok' THEN f.value END, f.state, e.simulated;

-- One row per fleet that has runs.
CREATE VIEW v_fleet AS
SELECT
  l.fleet AS fleet,
  l.scenario AS scenario,
  strftime('%Y-%m-%dT%H:%M:%SZ', l.last_ns / 1000000000, 'unixepoch') AS started_at,
  l.runs AS runs,
  row_number() OVER (ORDER BY l.last_ns DESC, l.fleet) AS age,
  lag(l.fleet) OVER (PARTITION BY l.scenario ORDER BY l.last_ns, l.fleet DESC) AS before
FROM (
  SELECT f.name AS fleet, c.name AS scenario, max(r.started_at_ns) AS last_ns, count(*) AS runs
  FROM fleet f
  JOIN run r ON r.fleet = f.id
  JOIN scenario c ON c.id = r.scenario
  GROUP BY f.name) l;

-- Where a fleet is: one row per node that was expected or sent a shard. Of several runs of a scenario by a node,
-- the last one counts.
CREATE VIEW v_node AS
WITH
  sent AS (
    SELECT f.name AS fleet, r.id AS run, r.scenario AS scenario, c.name AS scenario_name, r.environment AS environment, r.status AS status,
      r.reason AS reason, r.processes AS processes, r.started_at_ns AS started_at_ns,
      r.ended_at_ns AS ended_at_ns,
      -- The expected list may have the short form of the host's name.
      CASE WHEN e.node = e.host_name AND instr(e.host_name, '.') > 1 AND EXISTS (
             SELECT 1 FROM fleet_node x
             WHERE x.fleet = f.id AND x.node = substr(e.host_name, 1, instr(e.host_name, '.') - 1))
        THEN substr(e.host_name, 1, instr(e.host_name, '.') - 1)
        ELSE e.node END AS node
    FROM fleet f
    JOIN run r ON r.fleet = f.id
    JOIN scenario c ON c.id = r.scenario
    JOIN v_machine e ON e.environment = r.environment),
  counted AS (
    SELECT s.*,
      (SELECT count(*) FROM plan_case p WHERE p.run = s.run) AS cases,
      (SELECT count(*) FROM case_run c WHERE c.run = s.run) AS results,
      -- From the index of what is not ok alone, which has few rows.
      (SELECT count(*) FROM case_run c WHERE c.run = s.run AND c.status <> 'ok' AND c.status = 'skipped') AS skipped,
      (SELECT count(*) FROM case_run c WHERE c.run = s.run AND c.status <> 'ok' AND c.status <> 'skipped')
        AS not_ok
    FROM (SELECT s.*, row_number() OVER (PARTITION BY fleet, node, scenario_name ORDER BY started_at_ns DESC, run DESC) AS age
          FROM sent s) s
    WHERE s.age = 1),
  judged AS (
    SELECT k.*,
      CASE
        WHEN k.status = 'failed' OR k.not_ok > 0 THEN 'failed'
        WHEN k.status IN ('running', 'interrupted') THEN 'partial'
        WHEN k.results = k.skipped THEN 'failed'
        WHEN k.reason IS NOT NULL THEN 'partial'
        ELSE 'ok' END AS state,
      CASE
        WHEN k.status = 'failed' THEN k.reason
        WHEN k.not_ok > 0 THEN (
          SELECT printf('%d not ok: %s %s: %s', k.not_ok, b.name, c.status, c.reason)
          FROM case_run c JOIN bench_case b ON b.id = c.bench_case
          WHERE c.run = k.run AND c.status <> 'ok' AND c.status <> 'skipped'
          ORDER BY c.id LIMIT 1)
        WHEN k.status IN ('running', 'interrupted') THEN
          printf('%s with %d of %d results',
            CASE k.status WHEN 'running' THEN 'its last shard is of a run that had not ended,' ELSE 'interrupted' END,
            k.results - k.skipped, (k.cases - k.skipped) * k.processes)
          -- Why there is no newer shard, as its node left it.
          || ifnull((
            SELECT '; ' || m.reason FROM merged_input m JOIN run r ON r.uuid = m.run_uuid
            WHERE r.id = k.run AND m.reason IS NOT NULL ORDER BY m.path LIMIT 1), '')
        WHEN k.results = k.skipped THEN 'nothing was measured: ' || (
          SELECT c.reason FROM case_run c WHERE c.run = k.run AND c.status <> 'ok' AND c.status = 'skipped'
          GROUP BY c.reason ORDER BY count(*) DESC LIMIT 1)
        ELSE k.reason END AS reason_of
    FROM counted k),
  -- The run that says the worst of a node, the last one where they are alike.
  ranked AS (
    SELECT j.*,
      row_number() OVER (PARTITION BY fleet, node
        ORDER BY state = 'ok', state = 'partial', started_at_ns DESC, run DESC) AS place,
      count(*) OVER (PARTITION BY fleet, node) AS runs,
      sum(cases) OVER (PARTITION BY fleet, node) AS all_cases,
      sum(results - skipped - not_ok) OVER (PARTITION BY fleet, node) AS all_ok,
      sum(not_ok) OVER (PARTITION BY fleet, node) AS all_not_ok,
      sum(skipped) OVER (PARTITION BY fleet, node) AS all_skipped
    FROM judged j),
  known AS (SELECT * FROM ranked WHERE place = 1),
  expected AS (
    SELECT DISTINCT f.name AS fleet, x.node AS node FROM fleet f JOIN fleet_node x ON x.fleet = f.id),
  node AS (
    SELECT fleet, node FROM known UNION SELECT fleet, node FROM expected)
SELECT
  n.fleet AS fleet,
  n.node AS node,
  ifnull(k.state, 'missing') AS state,
  CASE
    WHEN k.run IS NOT NULL THEN k.reason_of
    ELSE coalesce(
      (SELECT printf('its shard was skipped: %s: %s', m.path, m.reason) FROM merged_input m
       WHERE m.node = n.node AND m.reason IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM run r WHERE r.uuid = m.run_uuid)
       ORDER BY m.run_uuid DESC LIMIT 1),
      'no shard: it was not started, or ended before its first one') END AS reason,
  k.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  s.name AS scenario,
  strftime('%Y-%m-%dT%H:%M:%SZ', k.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', k.ended_at_ns / 1000000000, 'unixepoch') AS ended_at,
  EXISTS (SELECT 1 FROM expected x WHERE x.fleet = n.fleet AND x.node = n.node) AS expected,
  k.runs AS runs,
  k.all_cases AS cases,
  k.all_ok AS ok,
  k.all_not_ok AS not_ok,
  k.all_skipped AS skipped,
  CASE WHEN k.run IS NOT NULL THEN (
    SELECT count(*) FROM (SELECT DISTINCT c.name, c.gpu FROM check_result c WHERE c.run = k.run AND c.status = 'failed')) END
    AS checks_failed,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.gpu_count AS gpu_count,
  (SELECT group_concat(value, ', ') FROM (
     SELECT DISTINCT v.value AS value FROM environment_fact v
     WHERE v.environment = k.environment AND v.name = 'vbios' AND v.state = 'ok' ORDER BY v.gpu)) AS vbios,
  e.simulated AS simulated
FROM node n
LEFT JOIN known k ON k.fleet = n.fleet AND k.node = n.node
LEFT JOIN run r ON r.id = k.run
LEFT JOIN scenario s ON s.id = k.scenario
LEFT JOIN environment e ON e.id = k.environment;

-- What a node has otherwise than most nodes of its fleet: one row per node and fact.
CREATE VIEW v_node_difference AS
WITH
  fact AS (
    SELECT n.fleet AS fleet, n.node AS node, k.fact AS fact,
      CASE k.fact
        WHEN 'driver' THEN ifnull(n.driver_version, 'none')
        WHEN 'kernel' THEN ifnull(n.kernel, 'unknown')
        WHEN 'VBIOS' THEN ifnull(n.vbios, 'unknown')
        WHEN 'GPUs' THEN printf('%d %s', n.gpu_count, ifnull(n.gpu_name, ''))
        ELSE ifnull((SELECT group_concat(name, ', ') FROM (
          SELECT DISTINCT c.name AS name FROM check_result c
          WHERE c.run = n.run AND c.status = 'failed' ORDER BY c.name)), 'none') END AS value
    FROM v_node n
    CROSS JOIN (SELECT 'driver' AS fact UNION ALL SELECT 'kernel' UNION ALL SELECT 'VBIOS' UNION ALL SELECT 'GPUs'
                UNION ALL SELECT 'failed checks') k
    WHERE n.run IS NOT NULL),
  counted AS (
    SELECT *, count(*) OVER (PARTITION BY fleet, fact, value) AS nodes, count(*) OVER (PARTITION BY fleet, fact) AS "of"
    FROM fact),
  compared AS (
    SELECT *, first_value(value) OVER most AS usual, max(nodes) OVER most AS usual_nodes
    FROM counted WINDOW most AS (PARTITION BY fleet, fact ORDER BY nodes DESC, value))
SELECT fleet, node, fact, value, usual, nodes, usual_nodes, "of"
FROM compared
WHERE value <> usual;
