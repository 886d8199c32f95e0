-- What the five sources measured, beside this machine.
--
-- One row per GPU and number that a source states in a table or in words. docs/SOURCES.md says how its measurement
-- differs from that of haul.
--
-- column source, section: the source, and where in it
-- column what: what was measured
-- column reported: the number of the source. NULL: it gives none
-- column here: the same from the latest run of its scenario, on the machine that was measured last. NULL: not measured
-- column ratio: here divided by reported
-- column measured_on, date: hardware and date of the source
--
-- of: nvbandwidth,grid-sweep,stream,shared-memory-latency,shared-cache-scaling,memory-hierarchy,comm-scope-*,um-coherence
--
-- narrow: date,measured_on,section,ratio,source
--
-- :source (text, default *) glob of sources: nvbandwidth, memory bandwidth, Comm|Scope, microbenchmarking, coherence
-- :tag (text, default *) glob of tags: only runs with such a tag, for example of one driver
WITH
  source (source, measured_on, date) AS (VALUES
    ('nvbandwidth', '8 GPUs, not named', 'not dated: README of version 0.2'),
    ('memory bandwidth', 'RTX 3080', 'not dated'),
    ('Comm|Scope', 'AC922: V100, NVLink 2.0 to POWER9', '2019 (ICPE)'),
    ('microbenchmarking', 'RTX 2060', 'not dated: latest reference of October 2022'),
    ('coherence', NULL, 'not dated')),
  reference (position, source, section, what, unit, reported, item) AS (VALUES
    (1, 'nvbandwidth', 'README', 'device_to_device_memcpy_write_ce, mean of 56 pairs', 'GB/s', 276.34, 'nvbandwidth/device_to_device_memcpy_write_ce'),
    (2, 'nvbandwidth', 'README', 'host_to_device_memcpy_ce, mean of 8 GPUs', 'GB/s', 26.01, 'nvbandwidth/host_to_device_memcpy_ce'),
    (3, 'nvbandwidth', 'README', 'host_to_device_bidirectional_memcpy_ce, mean of 8 GPUs', 'GB/s', 18.81, 'nvbandwidth/host_to_device_bidirectional_memcpy_ce'),
    (4, 'memory bandwidth', 'table', '34 blocks', 'GB/s', 211, 'grid/34'),
    (5, 'memory bandwidth', 'table', '68 blocks', 'GB/s', 369, 'grid/68'),
    (6, 'memory bandwidth', 'table', '136 blocks', 'GB/s', 520, 'grid/136'),
    (7, 'memory bandwidth', 'table', '272 blocks', 'GB/s', 560, 'grid/272'),
    (8, 'memory bandwidth', 'table', '544 blocks', 'GB/s', 563, 'grid/544'),
    (9, 'memory bandwidth', 'table', '1088 blocks', 'GB/s', 616, 'grid/1088'),
    (10, 'memory bandwidth', 'table', '100000 blocks', 'GB/s', 670, 'grid/100000'),
    (11, 'memory bandwidth', 'text', 'theoretical peak', 'GB/s', 760, 'grid/peak'),
    (12, 'Comm|Scope', '4.2', 'pinned to local GPU, best', 'GB/s', 72, 'pinned_to_gpu'),
    (13, 'Comm|Scope', '4.2', 'the same, of the theoretical peak', '%', 95, 'pinned_to_gpu/percent'),
    (14, 'Comm|Scope', '4.2', 'pinned to remote GPU, best', 'GB/s', 41, 'pinned_to_gpu_remote'),
    (15, 'Comm|Scope', '4.1', 'pinned, both ways against one way', 'times', 2, 'duplex_pinned'),
    (16, 'Comm|Scope', '4.3', 'GPU to GPU, what peer access adds', 'GB/s', 10, 'peer'),
    (17, 'Comm|Scope', '4.4', 'S822LC: copy engine above zero-copy read, best', 'GB/s', 10, 'zero_copy'),
    (18, 'microbenchmarking', 'table I', '1 thread, stride 1', 'cycles', 22, 'shared/1/1'),
    (19, 'microbenchmarking', 'table I', '1 thread, stride 2', 'cycles', 22, 'shared/1/2'),
    (20, 'microbenchmarking', 'table I', '1 thread, stride 4', 'cycles', 22, 'shared/1/4'),
    (21, 'microbenchmarking', 'table I', '1 thread, stride 8', 'cycles', 22, 'shared/1/8'),
    (22, 'microbenchmarking', 'table I', '1 thread, stride 16', 'cycles', 22, 'shared/1/16'),
    (23, 'microbenchmarking', 'table I', '1 thread, stride 32', 'cycles', 22, 'shared/1/32'),
    (24, 'microbenchmarking', 'table I', '2 threads, stride 1', 'cycles', 22, 'shared/2/1'),
    (25, 'microbenchmarking', 'table I', '2 threads, stride 2', 'cycles', 22, 'shared/2/2'),
    (26, 'microbenchmarking', 'table I', '2 threads, stride 4', 'cycles', 22, 'shared/2/4'),
    (27, 'microbenchmarking', 'table I', '2 threads, stride 8', 'cycles', 22, 'shared/2/8'),
    (28, 'microbenchmarking', 'table I', '2 threads, stride 16', 'cycles', 22, 'shared/2/16'),
    (29, 'microbenchmarking', 'table I', '2 threads, stride 32', 'cycles', 24, 'shared/2/32'),
    (30, 'microbenchmarking', 'table I', '4 threads, stride 1', 'cycles', 22, 'shared/4/1'),
    (31, 'microbenchmarking', 'table I', '4 threads, stride 2', 'cycles', 22, 'shared/4/2'),
    (32, 'microbenchmarking', 'table I', '4 threads, stride 4', 'cycles', 22, 'shared/4/4'),
    (33, 'microbenchmarking', 'table I', '4 threads, stride 8', 'cycles', 22, 'shared/4/8'),
    (34, 'microbenchmarking', 'table I', '4 threads, stride 16', 'cycles', 24, 'shared/4/16'),
    (35, 'microbenchmarking', 'table I', '4 threads, stride 32', 'cycles', 28, 'shared/4/32'),
    (36, 'microbenchmarking', 'table I', '8 threads, stride 1', 'cycles', 22, 'shared/8/1'),
    (37, 'microbenchmarking', 'table I', '8 threads, stride 2', 'cycles', 22, 'shared/8/2'),
    (38, 'microbenchmarking', 'table I', '8 threads, stride 4', 'cycles', 22, 'shared/8/4'),
    (39, 'microbenchmarking', 'table I', '8 threads, stride 8', 'cycles', 24, 'shared/8/8'),
    (40, 'microbenchmarking', 'table I', '8 threads, stride 16', 'cycles', 28, 'shared/8/16'),
    (41, 'microbenchmarking', 'table I', '8 threads, stride 32', 'cycles', 36, 'shared/8/32'),
    (42, 'microbenchmarking', 'table I', '16 threads, stride 1', 'cycles', 22, 'shared/16/1'),
    (43, 'microbenchmarking', 'table I', '16 threads, stride 2', 'cycles', 22, 'shared/16/2'),
    (44, 'microbenchmarking', 'table I', '16 threads, stride 4', 'cycles', 24, 'shared/16/4'),
    (45, 'microbenchmarking', 'table I', '16 threads, stride 8', 'cycles', 28, 'shared/16/8'),
    (46, 'microbenchmarking', 'table I', '16 threads, stride 16', 'cycles', 36, 'shared/16/16'),
    (47, 'microbenchmarking', 'table I', '16 threads, stride 32', 'cycles', 52, 'shared/16/32'),
    (48, 'microbenchmarking', 'table I', '32 threads, stride 1', 'cycles', 22, 'shared/32/1'),
    (49, 'microbenchmarking', 'table I', '32 threads, stride 2', 'cycles', 24, 'shared/32/2'),
    (50, 'microbenchmarking', 'table I', '32 threads, stride 4', 'cycles', 28, 'shared/32/4'),
    (51, 'microbenchmarking', 'table I', '32 threads, stride 8', 'cycles', 36, 'shared/32/8'),
    (52, 'microbenchmarking', 'table I', '32 threads, stride 16', 'cycles', 52, 'shared/32/16'),
    (53, 'microbenchmarking', 'table I', '32 threads, stride 32', 'cycles', 84, 'shared/32/32'),
    (54, 'microbenchmarking', 'table I', '64 threads, stride 1', 'cycles', 22, 'shared/64/1'),
    (55, 'microbenchmarking', 'table I', '64 threads, stride 2', 'cycles', 24, 'shared/64/2'),
    (56, 'microbenchmarking', 'table I', '64 threads, stride 4', 'cycles', 28, 'shared/64/4'),
    (57, 'microbenchmarking', 'table I', '64 threads, stride 8', 'cycles', 36, 'shared/64/8'),
    (58, 'microbenchmarking', 'table I', '64 threads, stride 16', 'cycles', 52, 'shared/64/16'),
    (59, 'microbenchmarking', 'table I', '64 threads, stride 32', 'cycles', 84, 'shared/64/32'),
    (60, 'microbenchmarking', 'table I', '128 threads, stride 1', 'cycles', 22, 'shared/128/1'),
    (61, 'microbenchmarking', 'table I', '128 threads, stride 2', 'cycles', 24, 'shared/128/2'),
    (62, 'microbenchmarking', 'table I', '128 threads, stride 4', 'cycles', 28, 'shared/128/4'),
    (63, 'microbenchmarking', 'table I', '128 threads, stride 8', 'cycles', 36, 'shared/128/8'),
    (64, 'microbenchmarking', 'table I', '128 threads, stride 16', 'cycles', 64, 'shared/128/16'),
    (65, 'microbenchmarking', 'table I', '128 threads, stride 32', 'cycles', 128, 'shared/128/32'),
    (66, 'microbenchmarking', 'table I', '256 threads, stride 1', 'cycles', 22, 'shared/256/1'),
    (67, 'microbenchmarking', 'table I', '256 threads, stride 2', 'cycles', 24, 'shared/256/2'),
    (68, 'microbenchmarking', 'table I', '256 threads, stride 4', 'cycles', 32, 'shared/256/4'),
    (69, 'microbenchmarking', 'table I', '256 threads, stride 8', 'cycles', 64, 'shared/256/8'),
    (70, 'microbenchmarking', 'table I', '256 threads, stride 16', 'cycles', 127, 'shared/256/16'),
    (71, 'microbenchmarking', 'table I', '256 threads, stride 32', 'cycles', 255, 'shared/256/32'),
    (72, 'microbenchmarking', 'table I', '512 threads, stride 1', 'cycles', 32, 'shared/512/1'),
    (73, 'microbenchmarking', 'table I', '512 threads, stride 2', 'cycles', 32, 'shared/512/2'),
    (74, 'microbenchmarking', 'table I', '512 threads, stride 4', 'cycles', 64, 'shared/512/4'),
    (75, 'microbenchmarking', 'table I', '512 threads, stride 8', 'cycles', 127, 'shared/512/8'),
    (76, 'microbenchmarking', 'table I', '512 threads, stride 16', 'cycles', 255, 'shared/512/16'),
    (77, 'microbenchmarking', 'table I', '512 threads, stride 32', 'cycles', 511, 'shared/512/32'),
    (78, 'microbenchmarking', 'table I', '1024 threads, stride 1', 'cycles', 62, 'shared/1024/1'),
    (79, 'microbenchmarking', 'table I', '1024 threads, stride 2', 'cycles', 62, 'shared/1024/2'),
    (80, 'microbenchmarking', 'table I', '1024 threads, stride 4', 'cycles', 125, 'shared/1024/4'),
    (81, 'microbenchmarking', 'table I', '1024 threads, stride 8', 'cycles', 251, 'shared/1024/8'),
    (82, 'microbenchmarking', 'table I', '1024 threads, stride 16', 'cycles', 504, 'shared/1024/16'),
    (83, 'microbenchmarking', 'table II', 'no conflict', 'cycles', 22, 'bank/1'),
    (84, 'microbenchmarking', 'table II', '2-way', 'cycles', 24, 'bank/2'),
    (85, 'microbenchmarking', 'table II', '4-way', 'cycles', 28, 'bank/4'),
    (86, 'microbenchmarking', 'table II', '8-way', 'cycles', 36, 'bank/8'),
    (87, 'microbenchmarking', 'table II', '16-way', 'cycles', 52, 'bank/16'),
    (88, 'microbenchmarking', 'table II', '32-way', 'cycles', 84, 'bank/32'),
    (89, 'microbenchmarking', 'II', 'shared memory, lowest', 'cycles', 22, 'shared/lowest'),
    (90, 'microbenchmarking', 'II', 'shared memory, highest with 1024 threads', 'cycles', 504, 'shared/highest'),
    (91, 'microbenchmarking', 'II', 'through L1 and L2, lowest with 1024 threads', 'cycles', 66, 'l2/lowest'),
    (92, 'microbenchmarking', 'III', 'arrays in the L1 cache: blocks until 95 % of the best', 'blocks', 10, 'scaling/l1'),
    (93, 'microbenchmarking', 'V', 'STREAM, mean of the best of four operations', 'GB/s', 304, 'stream/mean'),
    (94, 'microbenchmarking', 'V', 'the same, of the theoretical peak', '%', 90, 'stream/percent'),
    (95, 'microbenchmarking', 'V.A', 'fingerprint by one thread: GPUs found again (here: haul identify)', '%', 88, NULL),
    (96, 'microbenchmarking', 'VI', 'capacity of the L1 cache', 'KiB', 64, 'capacity/l1'),
    (97, 'microbenchmarking', 'VI', 'capacity of the L2 cache', 'MiB', 4, 'capacity/l2'),
    (98, 'coherence', 'table', 'GPU To GPU, 64 MiB', 'GB/s', NULL, 'Comm_UM_Coherence_GPUToGPU'),
    (99, 'coherence', 'table', 'GPU To Host, 64 MiB', 'GB/s', NULL, 'Comm_UM_Coherence_GPUToHost'),
    (100, 'coherence', 'table', 'Host To GPU, 64 MiB', 'GB/s', NULL, 'Comm_UM_Coherence_HostToGPU')),
  run_of AS (
    SELECT r.run, r.scenario, r.host_name, r.simulated,
      row_number() OVER (PARTITION BY r.host_name, r.simulated, r.scenario
                         ORDER BY r.started_at_ns DESC, r.run DESC) AS age,
      row_number() OVER (ORDER BY r.started_at_ns DESC, r.run DESC) AS age_of_all
    FROM v_run r
    WHERE (r.scenario IN ('nvbandwidth', 'grid-sweep', 'stream', 'shared-memory-latency', 'shared-cache-scaling',
                          'memory-hierarchy', 'um-coherence') OR r.scenario GLOB 'comm-scope-*')
      AND ifnull(r.tag, '') GLOB :tag),
  result AS (
    SELECT r.scenario, c.*, CAST(c.grid_blocks AS INTEGER) AS blocks,
      CASE WHEN c.source_place = 'gpu' THEN c.source_index ELSE c.target_index END AS gpu
    FROM run_of r JOIN run_of n ON n.age_of_all = 1
    CROSS JOIN v_run_case c ON c.run = r.run
    WHERE r.age = 1 AND r.host_name IS n.host_name AND r.simulated = n.simulated AND c.status = 'ok'),
  -- By block: the best rate of comm-scope, whichever figure it is of.
  best AS (
    SELECT gpu, block, max(gbps) AS gbps, max(percent_of_peak) AS percent
    FROM result WHERE scenario GLOB 'comm-scope-*' AND block NOT LIKE '%/_repeated' ESCAPE '/' GROUP BY gpu, block),
  scaling AS (
    SELECT gpu, blocks, gbps, max(gbps) OVER (PARTITION BY gpu) AS most
    FROM result WHERE scenario = 'shared-cache-scaling' AND block = 'l1'),
  chain AS (
    SELECT gpu, block, size_bytes, cycles_per_op, min(cycles_per_op) OVER (PARTITION BY gpu, block) AS least
    FROM result WHERE scenario = 'memory-hierarchy' AND block IN ('l1', 'l2')),
  here (item, gpu, value) AS (
    SELECT 'nvbandwidth/' || block, gpu, avg(gbps) FROM result WHERE scenario = 'nvbandwidth' GROUP BY gpu, block
    UNION ALL
    SELECT 'grid/' || blocks, gpu, max(gbps) FROM result
    WHERE scenario = 'grid-sweep' AND block = 'copy' GROUP BY gpu, blocks
    UNION ALL
    SELECT 'grid/peak', gpu, max(peak_gbps) FROM result WHERE scenario = 'grid-sweep' GROUP BY gpu
    UNION ALL
    SELECT 'shared/' || block_threads || '/' || (stride_bytes / 4), gpu, max(cycles_per_op) FROM result
    WHERE scenario = 'shared-memory-latency' AND block = 'shared' GROUP BY gpu, block_threads, stride_bytes
    UNION ALL
    SELECT 'shared/lowest', gpu, min(cycles_per_op) FROM result
    WHERE scenario = 'shared-memory-latency' AND block = 'shared' GROUP BY gpu
    UNION ALL
    SELECT 'shared/highest', gpu, max(cycles_per_op) FROM result
    WHERE scenario = 'shared-memory-latency' AND block = 'shared' AND block_threads = 1024 GROUP BY gpu
    UNION ALL
    SELECT 'l2/lowest', gpu, min(cycles_per_op) FROM result
    WHERE scenario = 'shared-memory-latency' AND space = 'global' AND cache = 'l1' AND block_threads = 1024 GROUP BY gpu
    UNION ALL
    SELECT 'bank/' || (stride_bytes / 4), gpu, min(cycles_per_op) FROM result
    WHERE scenario = 'shared-memory-latency' AND block = 'shared' AND block_threads >= 32 GROUP BY gpu, stride_bytes
    UNION ALL
    SELECT 'scaling/l1', gpu, min(blocks) FROM scaling WHERE gbps >= 0.95 * most GROUP BY gpu
    UNION ALL
    SELECT CASE n.i WHEN 0 THEN 'stream/mean' ELSE 'stream/percent' END, b.gpu, avg(CASE n.i WHEN 0 THEN b.gbps ELSE b.percent END)
    FROM (SELECT gpu, operation, max(gbps) AS gbps, max(percent_of_peak) AS percent FROM result
          WHERE scenario = 'stream' AND block = 'threads' GROUP BY gpu, operation) b
    JOIN (SELECT 0 AS i UNION ALL SELECT 1) n
    GROUP BY b.gpu, n.i
    UNION ALL
    -- The largest footprint whose latency is within a tenth of the lowest; memory-capacity tells more.
    SELECT 'capacity/' || block, gpu, max(size_bytes) / CASE block WHEN 'l1' THEN 1024.0 ELSE 1048576.0 END FROM chain
    WHERE cycles_per_op <= 1.1 * least GROUP BY gpu, block
    UNION ALL
    SELECT block, gpu, gbps FROM best WHERE block IN ('pinned_to_gpu', 'pinned_to_gpu_remote')
    UNION ALL
    SELECT 'pinned_to_gpu/percent', gpu, percent FROM best WHERE block = 'pinned_to_gpu'
    UNION ALL
    SELECT 'duplex_pinned', a.gpu, a.gbps / b.gbps FROM best a JOIN best b ON b.gpu = a.gpu
    WHERE a.block = 'duplex_pinned' AND b.block = 'pinned_to_gpu'
    UNION ALL
    SELECT 'peer', a.gpu, a.gbps - b.gbps FROM best a JOIN best b ON b.gpu = a.gpu
    WHERE a.block = 'gpu_to_gpu_peer' AND b.block = 'gpu_to_gpu_no_peer'
    UNION ALL
    SELECT 'zero_copy', a.gpu, a.gbps - b.gbps FROM best a JOIN best b ON b.gpu = a.gpu
    WHERE a.block = 'pinned_to_gpu' AND b.block = 'zero_copy_host_read'
    UNION ALL
    SELECT block, gpu, avg(gbps) FROM result WHERE scenario = 'um-coherence' AND size_bytes = 64 << 20 GROUP BY gpu, block)
SELECT
  f.source AS source,
  f.section AS section,
  f.what AS what,
  f.unit AS unit,
  f.reported AS reported,
  h.value AS here,
  h.value / f.reported AS ratio,
  'gpu' || h.gpu AS gpu,
  s.measured_on AS measured_on,
  s.date AS date
FROM reference f
JOIN source s ON s.source = f.source
LEFT JOIN here h ON h.item = f.item
WHERE f.source GLOB :source
ORDER BY f.position, h.gpu;
