-- Bandwidth inside the caches against the number of blocks.
--
-- One row per point of a curve, from the latest run of shared-cache-scaling: GB/s read and written together, and
-- bytes per clock of the SM that worked longest. cache is the nearest one that loads may hit: of l1 the L1 caches serve
-- what fits them, of l2 all loads pass them.
--
-- of: shared-cache-scaling
--
-- plot: x=blocks y=gbps low=low high=high curve=threads by=gpu,cache,size_bytes scale=linear
--
-- narrow: low,high,blocks,threads,remark,bytes_per_clock
--
-- :run (run, default null) the run to show; without it: the latest of shared-cache-scaling
SELECT
  c.source_place || c.source_index AS gpu,
  coalesce(c.cache, 'l1') AS cache,
  c.size_bytes AS size_bytes,
  c.block_threads AS threads,
  c.grid_blocks AS blocks,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.payload_bytes / c.median_cycles AS bytes_per_clock,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped' AND c.kind = 'stream'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'shared-cache-scaling'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, cache DESC, c.size_bytes, c.block_threads, c.grid_blocks;
