-- 50 runs under five drivers, 20 processes each, 1,000 cases: a million results with summaries as
-- 100 trials each would leave them. From run 41 on, GPU 3 is 3 % slower from the device to the host.
CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
INSERT INTO n
WITH RECURSIVE c (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < 999) SELECT i FROM c;

INSERT INTO environment (id, key, simulated, host_name, source, cuda_state, driver_version,
  driver_branch, kernel_module, cuda_driver_version, kernel, os, boot_id, cpu_model, gpu_name,
  gpu_count, node_count)
SELECT i + 1, printf('%032x', i + 1), 0, 'node1', 'probe', 'ok', printf('5%d0.10', 4 + i),
  printf('r5%d0', 4 + i), 'open', '13.0', '6.1', 'Linux', printf('boot-%d', i), 'CPU', 'GPU', 8, 1
FROM n WHERE i < 5;
INSERT INTO environment_fact (environment, name, gpu, state, value)
SELECT e.id, printf('fact_%d', f.i % 20), f.i / 20 - 1, 'ok', printf('value %d', f.i)
FROM environment e, n f WHERE f.i < 180;
INSERT INTO device (environment, place, number, memory_bytes, name, uuid, numa_node)
SELECT e.id, 'gpu', g.i, 80000000000, 'GPU', printf('GPU-%d', g.i), 0
FROM environment e, n g WHERE g.i < 8;
INSERT INTO device (environment, place, number, memory_bytes) SELECT id, 'numa', 0, 1 << 38
FROM environment;
INSERT INTO scenario (id, key, name, description, text, resolved)
VALUES (1, printf('%032x', 1), 'nightly', '', '', '');
INSERT INTO run (id, uuid, environment, scenario, scenario_path, origin, tag, command_line,
  haul_version, processes, case_order, seed, telemetry_ns, started_at_ns, ended_at_ns, status)
SELECT i + 1, printf('%032x', 4096 + i), i / 10 + 1, 1, 'nightly.toml', 'measured',
  CASE WHEN i < 25 THEN 'first' ELSE 'second' END, 'haul run nightly.toml', '0.1.0', 20, 'file',
  '0', 0, 1700000000000000000 + i * 86400000000000, 1700000000000000000 + i * 86400000000000,
  'done'
FROM n WHERE i < 50;
INSERT INTO process (id, run, ordinal, pid, workers, started_at_ns)
SELECT (r.id - 1) * 20 + p.i + 1, r.id, p.i, 1, 1, r.started_at_ns + p.i
FROM run r, n p WHERE p.i < 20;

-- Case i: GPU i % 8, block i / 8 % 5, size i / 40.
INSERT INTO bench_case (id, key, case_key, definition, block, name, kind, axes, path, payload_bytes,
  operations,
  host_cache, device_cache)
SELECT i + 1, printf('%032x', i * 40503 % 65536 * 65536 + i), printf('%032x', i * 40503 % 65536 * 65536 + i),
  printf('{"flows":[{"role":"measured","method":"ce","source":{"place":"gpu","index":%d},"size":%d}],"block":%d}',
    i % 8, 1048576 + i / 40 * 65536, i / 8 % 5),
  printf('block%d', i / 8 % 5),
  printf('block%d/gpu%d-numa0:pinned/%dKiB', i / 8 % 5, i % 8, 1024 + i / 40 * 64), 'transfer',
  printf('size=%dKiB', 1024 + i / 40 * 64), printf('gpu%d-numa0:pinned', i % 8),
  1048576 + i / 40 * 65536, 0, 'warm', 'warm'
FROM n;
INSERT INTO flow (bench_case, ordinal, role, method, source_place, source_index, source_memory,
  target_place, target_index, target_memory, initiator, staged, size_bytes, gpu)
SELECT i + 1, 0, 'measured', 'ce', 'gpu', i % 8, 'device', 'numa', 0, 'pinned', 'source', 0,
  1048576 + i / 40 * 65536, i % 8
FROM n;
INSERT INTO plan_case (run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes,
  estimate_ns)
SELECT r.id, b.id, b.id, 'pcie', 63000000000, b.payload_bytes, 1000000 FROM run r, bench_case b;

-- The sum of four uniform numbers of standard deviation about 0.3 %, made of the row's own number.
INSERT INTO case_run (run, process, bench_case, status, n, iterations, clock, gated, verified,
  serialised, stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns,
  cv, started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
SELECT run, process, bench_case, 'ok', 100, 8, 'event', 1, 1, 0, 'precision', m, 0.999 * m, 1.001 * m,
  0.99 * m, 1.01 * m, 0.985 * m, 1.02 * m, m, 0.005, 1700000000000000000, 1700000000100000000,
  1000, 100000000, 1000, 100002000
FROM (
  SELECT p.run AS run, p.id AS process, b.id AS bench_case,
    b.payload_bytes / 55.0
      * CASE WHEN p.run > 40 AND b.block = 'block1' AND (b.id - 1) % 8 = 3 THEN 1.03 ELSE 1 END
      * (1 + 0.0052 * (
          (p.id * 7919 + b.id * 104729) * 2654435761 % 4294967296 / 4294967296.0
        + (p.id * 6101 + b.id * 15485863) * 40503 % 65536 / 65536.0
        + (p.id * 3571 + b.id * 32452843) * 69069 % 1048573 / 1048573.0
        + (p.id * 2741 + b.id * 49979687) * 16807 % 2147483647 / 2147483647.0 - 2)) AS m
  FROM process p, bench_case b);
