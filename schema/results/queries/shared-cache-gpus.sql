-- Bandwidth inside the caches against the number of blocks, every GPU on one axis.
--
-- One row per GPU and point of a curve, from the latest run of shared-cache-scaling of every node in the database (haul
-- merge brings nodes together): GB/s read and written together. share_percent is that of the GPU's own best, so that models
-- are compared by how soon they come to it.
--
-- of: shared-cache-scaling
--
-- plot: x=blocks y=gbps curve=model,node,gpu by=cache,size_bytes,threads scale=linear
--
-- narrow: size_bytes,node,blocks_per_sm,share_percent
--
-- :tag (text, default *) glob of tags: only runs with such a tag
-- :threads (integer, default 256) per block
WITH latest AS (
  SELECT r.run, row_number() OVER (PARTITION BY r.node, r.gpu_name, r.simulated
                                   ORDER BY r.started_at_ns DESC, r.run DESC) AS age
  FROM v_run r
  WHERE r.scenario = 'shared-cache-scaling' AND ifnull(r.tag, '') GLOB :tag)
SELECT
  d.gpu_name AS model,
  c.node AS node,
  'gpu' || d.gpu AS gpu,
  coalesce(c.cache, 'l1') AS cache,
  c.block_threads AS threads,
  c.grid_blocks AS blocks,
  round(1.0 * c.grid_blocks / d.sm_count, 2) AS blocks_per_sm,
  c.gbps AS gbps,
  100 * c.gbps / max(c.gbps) OVER (PARTITION BY c.run, d.gpu, c.cache, c.size_bytes) AS share_percent,
  c.size_bytes AS size_bytes
FROM latest l
CROSS JOIN v_run_case c ON c.run = l.run
JOIN v_gpu d ON d.run = c.run AND d.gpu = c.source_index
WHERE l.age = 1 AND c.status = 'ok' AND c.kind = 'stream' AND c.block_threads = :threads
ORDER BY d.gpu_name, c.node, d.gpu, cache DESC, c.size_bytes, c.grid_blocks;
