-- Results of an attached database, "input", into "main".

-- name: integrity
PRAGMA integrity_check(1);

-- name: read
-- From here on the file stands still for its reader.
BEGIN;
SELECT count(*) FROM sqlite_master;

-- name: attach
ATTACH DATABASE :path AS input;

-- name: detach
DETACH DATABASE input;

-- name: tables
-- Which row of the input is which row of the output: ids hold in one file only. In temporary tables,
-- which go to disk where they grow.
CREATE TEMP TABLE merge_run (
  input INTEGER PRIMARY KEY,
  output INTEGER,           -- NULL until the run is inserted
  known INTEGER NOT NULL,   -- 1: the output had it before
  later INTEGER NOT NULL,   -- 1: known, and the input's has come further
  results INTEGER NOT NULL  -- of the run that are added
);
CREATE TEMP TABLE merge_bench_case (input INTEGER PRIMARY KEY, output INTEGER NOT NULL);
CREATE TEMP TABLE merge_process (input INTEGER PRIMARY KEY, output INTEGER NOT NULL);
CREATE TEMP TABLE merge_case_run (
  ordinal INTEGER PRIMARY KEY, -- 1, 2, ...: output follows the ids that are there
  input INTEGER NOT NULL,
  output INTEGER
);

-- name: missing
-- A column that the output's schema has and the attached file's has not.
SELECT t.name AS "table", c.name AS "column"
FROM main.sqlite_master t, pragma_table_info(t.name, 'main') c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
  AND NOT EXISTS (
    SELECT 1 FROM input.sqlite_master i, pragma_table_info(i.name, 'input') d
    WHERE i.type = 'table' AND i.name = t.name AND d.name = c.name)
ORDER BY t.name, c.cid
LIMIT 1;

-- name: environment
-- What is known by the key of its content is inserted once, with the rows that belong to it.
INSERT INTO main.environment (
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count)
SELECT
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count
FROM input.environment i
WHERE NOT EXISTS (SELECT 1 FROM main.environment m WHERE m.key = i.key)
ORDER BY i.id;

INSERT INTO main.environment_fact (environment, name, gpu, state, value)
SELECT m.id, f.name, f.gpu, f.state, f.value
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.environment_fact f ON f.environment = i.id
WHERE true
ON CONFLICT (environment, name, gpu) DO NOTHING;

INSERT INTO main.device (
  environment, place, number, memory_bytes, cpu_count, name, uuid, pci_address, numa_node,
  cuda_ordinal, compute_major, compute_minor, sm_count, copy_engine_count, l2_bytes,
  sm_clock_max_khz, memory_clock_khz, memory_bus_bits, pcie_generation_max, pcie_width_max,
  nvlink_count, nvlink_bytes_per_second, c2c_bytes_per_second, mig_enabled)
SELECT
  m.id, d.place, d.number, d.memory_bytes, d.cpu_count, d.name, d.uuid, d.pci_address, d.numa_node,
  d.cuda_ordinal, d.compute_major, d.compute_minor, d.sm_count, d.copy_engine_count, d.l2_bytes,
  d.sm_clock_max_khz, d.memory_clock_khz, d.memory_bus_bits, d.pcie_generation_max,
  d.pcie_width_max, d.nvlink_count, d.nvlink_bytes_per_second, d.c2c_bytes_per_second, d.mig_enabled
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.device d ON d.environment = i.id
WHERE true
ON CONFLICT (environment, place, number) DO NOTHING;

INSERT INTO main.link (
  environment, place, source, target, peer_access, nvlink_count, bytes_per_second, distance)
SELECT
  m.id, l.place, l.source, l.target, l.peer_access, l.nvlink_count, l.bytes_per_second, l.distance
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.link l ON l.environment = i.id
WHERE true
ON CONFLICT (environment, place, source, target) DO NOTHING;

-- name: scenario
INSERT INTO main.scenario (key, name, description, text, resolved)
SELECT key, name, description, text, resolved
FROM input.scenario i
WHERE NOT EXISTS (SELECT 1 FROM main.scenario m WHERE m.key = i.key)
ORDER BY i.id;

-- name: bench_case
INSERT INTO main.bench_case (
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache)
SELECT
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache
FROM input.bench_case i
WHERE NOT EXISTS (SELECT 1 FROM main.bench_case m WHERE m.key = i.key)
ORDER BY i.id;

DELETE FROM temp.merge_bench_case;
INSERT INTO temp.merge_bench_case (input, output)
SELECT i.id, m.id FROM input.bench_case i JOIN main.bench_case m ON m.key = i.key;

INSERT INTO main.flow (
  bench_case, ordinal, role, method, source_place, source_index, source_memory, target_place,
  target_index, target_memory, initiator, staged, size_bytes, gpu, threads, kernel_variant,
  kernel_block, kernel_grid, kernel_vector_bytes, shape_width_bytes, shape_height, shape_depth,
  shape_pitch_bytes, unified_mode, unified_touch_by, unified_advise, unified_stride_bytes)
SELECT
  b.output, f.ordinal, f.role, f.method, f.source_place, f.source_index, f.source_memory,
  f.target_place, f.target_index, f.target_memory, f.initiator, f.staged, f.size_bytes, f.gpu,
  f.threads, f.kernel_variant, f.kernel_block, f.kernel_grid, f.kernel_vector_bytes,
  f.shape_width_bytes, f.shape_height, f.shape_depth, f.shape_pitch_bytes, f.unified_mode,
  f.unified_touch_by, f.unified_advise, f.unified_stride_bytes
FROM temp.merge_bench_case b
JOIN input.flow f ON f.bench_case = b.input
WHERE true
ON CONFLICT (bench_case, ordinal) DO NOTHING;

INSERT INTO main.chase (
  bench_case, space, gpu, memory_place, memory_index, memory, footprint_bytes, stride_bytes,
  hop_order, cache, threads, blocks, hops)
SELECT
  b.output, c.space, c.gpu, c.memory_place, c.memory_index, c.memory, c.footprint_bytes,
  c.stride_bytes, c.hop_order, c.cache, c.threads, c.blocks, c.hops
FROM temp.merge_bench_case b
JOIN input.chase c ON c.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.overhead (
  bench_case, operation, gpu, memory_place, memory_index, memory, size_bytes)
SELECT
  b.output, o.operation, o.gpu, o.memory_place, o.memory_index, o.memory, o.size_bytes
FROM temp.merge_bench_case b
JOIN input.overhead o ON o.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.stream (
  bench_case, op, number_type, memory_place, memory_index, memory, size_bytes, passes, threads, gpu,
  block, grid, vector_bytes, unroll, clock)
SELECT
  b.output, s.op, s.number_type, s.memory_place, s.memory_index, s.memory, s.size_bytes, s.passes,
  s.threads, s.gpu, s.block, s.grid, s.vector_bytes, s.unroll, s.clock
FROM temp.merge_bench_case b
JOIN input.stream s ON s.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.arithmetic (
  bench_case, op, number_type, measure, gpu, ilp, block, grid, instructions)
SELECT
  b.output, a.op, a.number_type, a.measure, a.gpu, a.ilp, a.block, a.grid, a.instructions
FROM temp.merge_bench_case b
JOIN input.arithmetic a ON a.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

-- name: run
-- A run that both have grew in one of them, when it was resumed. Results are only ever added to it,
-- workers only ever started, and an end replaces no end: which of the two states is the later one
-- does not depend on the order in which they are met.
DELETE FROM temp.merge_run;
INSERT INTO temp.merge_run (input, output, known, later, results)
SELECT i.id, m.id, m.id IS NOT NULL,
  m.id IS NOT NULL
  AND ((SELECT count(*) FROM input.case_run c WHERE c.run = i.id),
       (SELECT ifnull(sum(p.workers), 0) FROM input.process p WHERE p.run = i.id),
       ifnull(i.ended_at_ns, 0), i.status, ifnull(i.reason, ''), ifnull(i.tag, ''))
    > ((SELECT count(*) FROM main.case_run c WHERE c.run = m.id),
       (SELECT ifnull(sum(p.workers), 0) FROM main.process p WHERE p.run = m.id),
       ifnull(m.ended_at_ns, 0), m.status, ifnull(m.reason, ''), ifnull(m.tag, '')),
  0
FROM input.run i
LEFT JOIN main.run m ON m.uuid = i.uuid;

INSERT INTO main.run (
  uuid, environment, scenario, scenario_path, origin, tag, only_glob, command_line, haul_version,
  processes, case_order, seed, telemetry_ns, started_at_ns, ended_at_ns, status, reason)
SELECT
  i.uuid, e.id, s.id, i.scenario_path, i.origin, i.tag, i.only_glob, i.command_line, i.haul_version,
  i.processes, i.case_order, i.seed, i.telemetry_ns, i.started_at_ns, i.ended_at_ns, i.status,
  i.reason
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.environment ie ON ie.id = i.environment
JOIN main.environment e ON e.key = ie.key
JOIN input.scenario ins ON ins.id = i.scenario
JOIN main.scenario s ON s.key = ins.key
WHERE r.known = 0
ORDER BY i.started_at_ns, i.uuid;

UPDATE temp.merge_run SET output = (
  SELECT m.id FROM input.run i JOIN main.run m ON m.uuid = i.uuid
  WHERE i.id = temp.merge_run.input);

UPDATE main.run SET (status, reason, ended_at_ns, tag) = (
  SELECT i.status, i.reason, i.ended_at_ns, i.tag
  FROM temp.merge_run r JOIN input.run i ON i.id = r.input
  WHERE r.output = main.run.id)
WHERE id IN (SELECT output FROM temp.merge_run WHERE later = 1);

-- name: plan_case
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

-- name: check_result
INSERT INTO main.check_result (run, name, gpu, checked_at_ns, status, on_fail, want, found)
SELECT r.output, k.name, k.gpu, k.checked_at_ns, k.status, k.on_fail, k.want, k.found
FROM temp.merge_run r
JOIN input.check_result k ON k.run = r.input
WHERE true
ON CONFLICT (run, name, gpu, checked_at_ns) DO NOTHING;

-- name: process
INSERT INTO main.process (run, ordinal, pid, workers, started_at_ns, ended_at_ns)
SELECT r.output, p.ordinal, p.pid, p.workers, p.started_at_ns, p.ended_at_ns
FROM temp.merge_run r
JOIN input.process p ON p.run = r.input
WHERE true
ORDER BY p.id
ON CONFLICT (run, ordinal) DO UPDATE SET
  pid = excluded.pid, workers = excluded.workers, ended_at_ns = excluded.ended_at_ns
WHERE (excluded.workers, ifnull(excluded.ended_at_ns, 0)) > (workers, ifnull(ended_at_ns, 0));

DELETE FROM temp.merge_process;
INSERT INTO temp.merge_process (input, output)
SELECT p.id, m.id
FROM temp.merge_run r
JOIN input.process p ON p.run = r.input
JOIN main.process m ON m.run = r.output AND m.ordinal = p.ordinal;

-- name: conflict
-- A run of one UUID that is two: it was resumed in two copies of a database. Nothing of the input is
-- taken then, because what would be kept would depend on the order.
SELECT i.uuid, 'environment or scenario' AS what
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.environment ie ON ie.id = i.environment
JOIN input.scenario ins ON ins.id = i.scenario
JOIN main.run m ON m.id = r.output
JOIN main.environment e ON e.id = m.environment
JOIN main.scenario s ON s.id = m.scenario
WHERE r.known = 1
  AND (ie.key, ins.key, i.started_at_ns) IS NOT (e.key, s.key, m.started_at_ns)
UNION ALL
SELECT i.uuid, 'results of ' || k.name AS what
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.case_run c ON c.run = r.input
JOIN temp.merge_bench_case b ON b.input = c.bench_case
JOIN main.bench_case k ON k.id = b.output
LEFT JOIN temp.merge_process p ON p.input = c.process
JOIN main.case_run m ON m.run = r.output AND m.bench_case = b.output
  AND ifnull(m.process, 0) = ifnull(p.output, 0)
WHERE r.known = 1
  AND (m.status, m.n, m.median_ns, m.started_at_ns) IS NOT (c.status, c.n, c.median_ns, c.started_at_ns)
LIMIT 1;

-- name: case_run
-- A result and what belongs to it were written in one transaction: where the result is known, all of
-- it is.
DELETE FROM temp.merge_case_run;
INSERT INTO temp.merge_case_run (input)
SELECT c.id
FROM input.case_run c
JOIN temp.merge_run r ON r.input = c.run
JOIN temp.merge_bench_case b ON b.input = c.bench_case
LEFT JOIN temp.merge_process p ON p.input = c.process
WHERE r.known = 0
  OR NOT EXISTS (
    SELECT 1 FROM main.case_run m
    WHERE m.run = r.output AND m.bench_case = b.output
      AND ifnull(m.process, 0) = ifnull(p.output, 0))
ORDER BY c.id;
UPDATE temp.merge_case_run
SET output = ordinal + (SELECT ifnull(max(id), 0) FROM main.case_run);
UPDATE temp.merge_run SET results = (
  SELECT count(*) FROM temp.merge_case_run x JOIN input.case_run c ON c.id = x.input
  WHERE c.run = temp.merge_run.input);

INSERT INTO main.case_run (
  id, run, process, bench_case, status, reason, note, n, iterations, clock, gated, verified,
  serialised, stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns,
  mean_ns, cv, median_cycles, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
SELECT
  x.output, r.output, p.output, b.output, c.status, c.reason, c.note, c.n, c.iterations, c.clock,
  c.gated, c.verified, c.serialised, c.stop, c.median_ns, c.median_low_ns, c.median_high_ns,
  c.p5_ns, c.p95_ns, c.min_ns, c.max_ns, c.mean_ns, c.cv, c.median_cycles, c.started_at_ns, c.ended_at_ns,
  c.allocate_ns, c.measure_ns, c.verify_ns, c.total_ns
FROM temp.merge_case_run x
CROSS JOIN input.case_run c ON c.id = x.input
JOIN temp.merge_run r ON r.input = c.run
JOIN temp.merge_bench_case b ON b.input = c.bench_case
LEFT JOIN temp.merge_process p ON p.input = c.process
ORDER BY x.ordinal;

-- name: trial
-- The large tables, row by row, in the order in which they lie in both files.
INSERT INTO main.flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
SELECT x.output, f.flow, f.n, f.median_ns, f.p5_ns, f.p95_ns
FROM temp.merge_case_run x
CROSS JOIN input.flow_run f ON f.case_run = x.input;

INSERT INTO main.trial (
  case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles)
SELECT
  x.output, t.ordinal, t.phase, t.status, t.iterations, t.start_ns, t.elapsed_ns, t.cycles
FROM temp.merge_case_run x
CROSS JOIN input.trial t ON t.case_run = x.input;

INSERT INTO main.flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns)
SELECT x.output, t.ordinal, t.flow, t.start_ns, t.elapsed_ns
FROM temp.merge_case_run x
CROSS JOIN input.flow_trial t ON t.case_run = x.input;

INSERT INTO main.telemetry (
  run, gpu, at_ns, sm_clock_khz, memory_clock_khz, power_mw, temperature_c, utilization_percent,
  pcie_generation, pcie_width, throttle_reasons)
SELECT
  r.output, t.gpu, t.at_ns, t.sm_clock_khz, t.memory_clock_khz, t.power_mw, t.temperature_c,
  t.utilization_percent, t.pcie_generation, t.pcie_width, t.throttle_reasons
FROM temp.merge_run r
CROSS JOIN input.telemetry t ON t.run = r.input
WHERE true
ON CONFLICT (run, gpu, at_ns) DO NOTHING;

-- name: result
SELECT count(*) AS runs, ifnull(sum(known = 0), 0) AS added,
  ifnull(sum(known = 1 AND (later = 1 OR results > 0)), 0) AS completed,
  ifnull(sum(results), 0) AS results
FROM temp.merge_run;
