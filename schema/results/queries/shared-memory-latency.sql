-- Latency of shared memory and of 2 MiB of the GPU's memory by threads and stride, in cycles.
--
-- One row per memory and number of threads, one column per stride in elements of 4 bytes, from the latest run of
-- shared-memory-latency. Empty: there are more threads than elements. memory is "shared", "l2" (loads bypass the
-- L1 cache) or "l1" (they may hit it, as in the study). "shared_large" has 226 KiB, which 1024 threads with a stride of
-- 32 fit into.
--
-- of: shared-memory-latency
--
-- plot: x=threads y=stride_1,stride_2,stride_4,stride_8,stride_16,stride_32 by=gpu,memory
--     unit=cycles/access scale=semilog
-- plot: x=threads y=best,worst curve=memory by=gpu unit=cycles/access scale=semilog
--
-- narrow: best,worst,stride_2,stride_8,stride_4,stride_16,stride_1
--
-- :run (run, default null) the run to show; without it: the latest of shared-memory-latency
SELECT
  c.source_place || c.source_index AS gpu,
  CASE c.space WHEN 'shared' THEN c.block ELSE c.cache END AS memory,
  c.block_threads AS threads,
  max(CASE WHEN c.stride_bytes = 4 THEN c.cycles_per_op END) AS stride_1,
  max(CASE WHEN c.stride_bytes = 8 THEN c.cycles_per_op END) AS stride_2,
  max(CASE WHEN c.stride_bytes = 16 THEN c.cycles_per_op END) AS stride_4,
  max(CASE WHEN c.stride_bytes = 32 THEN c.cycles_per_op END) AS stride_8,
  max(CASE WHEN c.stride_bytes = 64 THEN c.cycles_per_op END) AS stride_16,
  max(CASE WHEN c.stride_bytes = 128 THEN c.cycles_per_op END) AS stride_32,
  min(c.cycles_per_op) AS best,
  max(c.cycles_per_op) AS worst
FROM v_run_case c
WHERE c.space IN ('shared', 'global')
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'shared-memory-latency'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
GROUP BY c.source_index, c.space, CASE c.space WHEN 'shared' THEN c.block ELSE c.cache END, c.block_threads
ORDER BY c.source_index, c.space DESC, c.block = 'shared_large', c.cache DESC, c.block_threads;
