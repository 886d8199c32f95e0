-- Comm|Scope, table 1: the microbenchmarks.
--
-- One row per microbenchmark: the slowest and the fastest rate in GB/s over all its pairs of places, from the
-- latest run of comm-scope/table1. If none was measured, remark says why. Of pages on demand only those count that are
-- proven to have moved.
--
-- of: comm-scope-table1
--
-- narrow: no,kind,remark,slowest_gbps,ok
--
-- :run (run, default null) the run to show; without it: the latest of comm-scope/table1
WITH
  benchmark (number, kind, name, block) AS (VALUES
    (1, 'one way', 'pageable to GPU', 'pageable_to_gpu'),
    (2, 'one way', 'GPU to pageable', 'gpu_to_pageable'),
    (3, 'one way', 'pinned to GPU', 'pinned_to_gpu'),
    (4, 'one way', 'GPU to pinned', 'gpu_to_pinned'),
    (5, 'one way', 'pageable to pinned', 'pageable_to_pinned'),
    (6, 'one way', 'GPU to GPU, no peer', 'gpu_to_gpu_no_peer'),
    (7, 'one way', 'GPU to GPU, peer', 'gpu_to_gpu_peer'),
    (8, 'both ways', 'pageable and GPU', 'duplex_pageable'),
    (9, 'both ways', 'pinned and GPU', 'duplex_pinned'),
    (10, 'both ways', 'GPU and GPU, no peer', 'duplex_gpu_no_peer'),
    (11, 'both ways', 'GPU and GPU, peer', 'duplex_gpu_peer'),
    (12, 'demand', 'host to GPU', 'demand_host_to_gpu'),
    (13, 'demand', 'GPU to host', 'demand_gpu_to_host'),
    (14, 'demand', 'GPU to host, threads', 'demand_gpu_to_host_threads'),
    (15, 'demand', 'GPU to GPU', 'demand_gpu_to_gpu'),
    (16, 'demand', 'host and GPU', 'demand_duplex_host'),
    (17, 'demand', 'GPU and GPU', 'demand_duplex_gpu'),
    (18, 'prefetch', 'host to GPU', 'prefetch_host_to_gpu'),
    (19, 'prefetch', 'GPU to host', 'prefetch_gpu_to_host'),
    (20, 'prefetch', 'GPU to GPU', 'prefetch_gpu_to_gpu'),
    (21, 'prefetch', 'host and GPU', 'prefetch_duplex_host'),
    (22, 'prefetch', 'GPU and GPU', 'prefetch_duplex_gpu'),
    (23, 'zero-copy', 'host read', 'zero_copy_host_read'),
    (24, 'zero-copy', 'host write', 'zero_copy_host_write'),
    (25, 'zero-copy', 'GPU read', 'zero_copy_gpu_read'),
    (26, 'zero-copy', 'GPU write', 'zero_copy_gpu_write'),
    (27, 'zero-copy', 'GPU read, both ways', 'zero_copy_duplex_gpu_read'),
    (28, 'zero-copy', 'GPU write, both ways', 'zero_copy_duplex_gpu_write')),
  chosen AS (
    SELECT r.run FROM v_run r WHERE r.run = :run OR :run IS NULL AND r.scenario = 'comm-scope-table1'
    ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1),
  measured AS (
    SELECT c.block, c.status, c.reason, CASE WHEN NOT unproven THEN c.gbps END AS gbps, unproven
    FROM (SELECT c.block, c.status, c.reason, c.gbps,
            c.status = 'ok' AND c.block LIKE 'demand%'
              AND NOT (SELECT min(v.verified) FROM v_case v WHERE v.run = c.run AND v.bench_case = c.bench_case)
              AS unproven
          FROM chosen x CROSS JOIN v_run_case c ON c.run = x.run) c)
SELECT
  b.number AS no,
  b.kind AS kind,
  b.name AS microbenchmark,
  sum(m.status = 'ok') AS ok,
  min(m.gbps) AS slowest_gbps,
  max(m.gbps) AS fastest_gbps,
  CASE
    WHEN count(m.status) = 0 THEN 'not in this run'
    WHEN sum(m.status = 'ok') < count(*)
      THEN max(CASE WHEN m.status <> 'ok' THEN m.status || ': ' || m.reason END)
    WHEN max(m.unproven) THEN 'nothing proves that the pages moved'
  END AS remark
FROM chosen x JOIN benchmark b LEFT JOIN measured m ON m.block = b.block
GROUP BY b.number
ORDER BY b.number;
