-- For each rule of haul explain what makes the recorded machine and run of explain-h200x2.sql one that the rule
-- finds, and no other: tests/runner/analysis/test_explain.c runs each section on a copy of its own.

-- name: pcie_link
UPDATE telemetry SET pcie_width = 8 WHERE gpu = 1;

-- name: far_node
INSERT INTO device (environment, place, number, memory_bytes, cpu_count) VALUES (1, 'numa', 1, 1 << 39, 32);
INSERT INTO link (environment, place, source, target, distance) VALUES
  (1, 'numa', 0, 1, 21), (1, 'numa', 1, 0, 21), (1, 'numa', 1, 1, 10);
UPDATE environment SET node_count = 2;
UPDATE device SET numa_node = 1 WHERE place = 'gpu' AND number = 1;

-- name: acs
UPDATE device SET name = 'NVIDIA L40S', nvlink_count = 0 WHERE place = 'gpu';
UPDATE link SET nvlink_count = 0 WHERE place = 'gpu';
INSERT INTO environment_fact VALUES (1, 'acs', 0, 'ok', 'redirects at 0000:01:00.0'), (1, 'acs', 1, 'ok', 'off');

-- name: peer_access
UPDATE link SET peer_access = 0 WHERE place = 'gpu';

-- name: nvlinks
UPDATE device SET nvlink_count = 16 WHERE place = 'gpu' AND number = 1;

-- name: chip_to_chip
UPDATE environment_fact SET value = 'on' WHERE name = 'c2c' AND gpu = 0;

-- name: fabric
INSERT INTO environment_fact VALUES (1, 'fabric', 0, 'ok', 'completed'), (1, 'fabric', 1, 'ok', 'in progress');

-- name: power_limit
INSERT INTO environment_fact VALUES (1, 'power_limit_default', 0, 'ok', '700000'),
  (1, 'power_limit_default', 1, 'ok', '700000');
UPDATE environment_fact SET value = '500000' WHERE name = 'power_limit' AND gpu = 1;

-- name: throttled_power
UPDATE telemetry SET throttle_reasons = 4, sm_clock_khz = 1500000 WHERE gpu = 1;
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'throttled', 1, 'sw_power_cap', 80 FROM case_run
WHERE bench_case IN (SELECT bench_case FROM flow WHERE method = 'sm' AND gpu = 1);

-- name: throttled_heat
UPDATE telemetry SET throttle_reasons = 32, temperature_c = 91 WHERE gpu = 1;
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'throttled', 1, 'sw_thermal', 60 FROM case_run
WHERE bench_case IN (SELECT bench_case FROM flow WHERE gpu = 1);

-- name: throttled_hardware
UPDATE telemetry SET throttle_reasons = 128 WHERE gpu = 0;
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'throttled', 0, 'hw_power_brake', 100 FROM case_run
WHERE bench_case IN (SELECT bench_case FROM flow WHERE gpu = 0);

-- name: gpu_clocks
UPDATE environment_fact SET value = 'locked' WHERE name = 'gpu_clocks' AND gpu = 0;

-- name: gpu_in_use
UPDATE telemetry SET other_processes = 1 WHERE gpu = 1;
UPDATE case_run SET median_ns = median_ns * 2
WHERE bench_case IN (SELECT bench_case FROM flow WHERE gpu = 1 GROUP BY bench_case HAVING count(*) = 1);
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'in_use', 1, 'pid 4711 (python)', 93 FROM case_run
WHERE bench_case IN (SELECT bench_case FROM flow WHERE gpu = 1 GROUP BY bench_case HAVING count(*) = 1);

-- name: mig
UPDATE environment_fact SET value = 'on' WHERE name = 'mig' AND gpu = 1;

-- name: resizable_bar
UPDATE device SET name = 'NVIDIA L40S', nvlink_count = 0 WHERE place = 'gpu';
UPDATE link SET nvlink_count = 0 WHERE place = 'gpu';
INSERT INTO environment_fact VALUES (1, 'bar1_bytes', 0, 'ok', '268435456'), (1, 'bar1_bytes', 1, 'ok', '268435456');

-- name: ecc
UPDATE environment_fact SET value = 'on' WHERE name = 'ecc';

-- name: persistence
UPDATE environment_fact SET value = 'off' WHERE name = 'persistence' AND gpu = 0;

-- name: iommu
UPDATE environment_fact SET value = 'translated' WHERE name = 'iommu';

-- name: confidential_compute
INSERT INTO environment_fact VALUES (1, 'confidential_compute', -1, 'ok', 'on');

-- name: numa_policy
UPDATE environment SET node_count = 2;
INSERT INTO environment_fact VALUES (1, 'numa_policy', -1, 'ok', 'refused');

-- name: numa_balancing
UPDATE environment SET node_count = 2;
UPDATE environment_fact SET value = 'on' WHERE name = 'numa_balancing';

-- name: governor
UPDATE environment_fact SET state = 'ok', value = 'powersave' WHERE name = 'governor';

-- name: turbo
UPDATE environment_fact SET state = 'ok', value = 'off' WHERE name = 'turbo';

-- name: huge_pages
UPDATE environment_fact SET value = 'never' WHERE name = 'huge_pages';

-- name: page_size
UPDATE device SET c2c_bytes_per_second = 447120000000 WHERE place = 'gpu';
INSERT INTO environment_fact VALUES (1, 'page_size', -1, 'ok', '4096');

-- name: virtual_machine
UPDATE environment_fact SET value = 'QEMU' WHERE name = 'hypervisor';

-- name: smt
INSERT INTO environment_fact VALUES (1, 'smt', -1, 'ok', 'on');

-- name: memlock
UPDATE environment_fact SET value = '8388608' WHERE name = 'memlock_limit';

-- name: gpus_lost
INSERT INTO environment_fact VALUES (1, 'gpus_lost', -1, 'ok', '1');

-- name: gpus_hidden
UPDATE environment_fact SET value = '6' WHERE name = 'gpus_hidden';

-- name: shared_uplink
UPDATE environment_fact SET value = 'none' WHERE name = 'hypervisor';
INSERT INTO environment_fact VALUES (1, 'pcie_path', 0, 'ok', '0000:00:01.0 0000:01:00.0'),
  (1, 'pcie_path', 1, 'ok', '0000:00:01.0 0000:01:01.0');
UPDATE case_run SET median_ns = median_ns * 1.9
WHERE bench_case IN (SELECT id FROM bench_case WHERE block = 'all_to_host_memcpy_ce');

-- name: host_at_once
UPDATE case_run SET median_ns = median_ns * 1.9
WHERE bench_case IN (SELECT id FROM bench_case WHERE block = 'all_to_host_memcpy_ce');

-- name: cold_process
UPDATE run SET processes = 3;
INSERT INTO process (id, run, ordinal, pid, workers, started_at_ns) VALUES (2, 1, 1, 1, 1, 0), (3, 1, 2, 1, 1, 0);
INSERT INTO case_run (run, process, bench_case, status, n, median_ns)
SELECT c.run, p.id, c.bench_case, c.status, c.n, 0.96 * c.median_ns
FROM case_run c JOIN process p ON p.ordinal > 0
WHERE c.status = 'ok';

-- name: pageable_ungated
UPDATE flow SET source_memory = 'pageable' WHERE bench_case = 1;
UPDATE case_run SET gated = 0 WHERE bench_case = 1;

-- name: beside_kernel
INSERT INTO flow (bench_case, ordinal, role, method, source_place, source_index, source_memory, target_place, target_index,
  target_memory, initiator, staged, size_bytes, gpu, compute_op)
SELECT bench_case, 9, 'load', 'compute', 'gpu', gpu, 'device', 'gpu', gpu, 'device', 'source', 0, 1, gpu, 'fma'
FROM flow WHERE method = 'sm' AND role = 'measured' ORDER BY bench_case LIMIT 1;

-- name: small_copies
UPDATE flow SET size_bytes = 4096 WHERE bench_case = 1;

-- name: small_batches
UPDATE flow SET pieces = 4096, piece_bytes = 16384 * (1 + (bench_case = 9)), piece_places = 'random', submit = 'batch'
WHERE bench_case IN (1, 9) AND source_place = 'numa' AND target_place = 'gpu';
UPDATE case_run SET median_low_ns = 5 * median_ns WHERE bench_case = 1;

-- name: serialised
UPDATE case_run SET serialised = 1
WHERE bench_case IN (SELECT id FROM bench_case WHERE block = 'all_to_host_memcpy_ce');

-- name: rate_step
UPDATE bench_case SET block = 'swept', axes = 'size=' || CASE id WHEN 1 THEN '64MiB' ELSE '512MiB' END WHERE id IN (1, 5);
UPDATE case_run SET median_ns = 2 * median_ns, median_low_ns = 2 * median_low_ns, median_high_ns = 2 * median_high_ns
WHERE bench_case = 5;

-- name: link_errors
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'link_errors', 1, 'PCIe replays', 3 FROM case_run WHERE bench_case = 2;

-- name: memory_errors
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'link_errors', 1, 'corrected ECC errors', 3 FROM case_run WHERE bench_case = 2;

-- name: xid
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'link_errors', 1, 'Xid 63 errors', 1 FROM case_run WHERE bench_case = 2;
