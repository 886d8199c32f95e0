-- Capacities of the caches, derived from latency, beside what the GPU reports.
--
-- One row per cache, from the dense sweeps of a run of memory-hierarchy. Latency rises where the footprint exceeds a
-- cache. The plateau is the median of the smallest quarter of the footprints.
--
-- column cache: `l1 smallest` is the L1 cache beside the largest shared memory
-- column cycles: latency of the plateau
-- column cycles_beyond: latency beyond the cache: median of the largest quarter of the footprints
-- column knee_bytes: largest footprint up to which no latency exceeds the plateau by more than 5 % of the rise. With
--   random replacement it is at most 5 % too large, with LRU it is exact
-- column tolerance_bytes: distance from knee_bytes to the next measured footprint. The capacity lies between them
-- column half_bytes: first footprint at half of the rise. If a cache has a near and a far part, the knee is that of the
--   near part, and this is that of the whole
-- column gpu_says_bytes: capacity that the GPU reports. NULL for the L1 cache, which no driver reports
--
-- of: memory-hierarchy
--
-- narrow: tolerance_bytes,cycles_beyond,half_bytes,cycles,gpu_says_bytes
--
-- :run (run, default null) the run to show; without it: the latest of memory-hierarchy
WITH
  -- By stride and footprint, not by block: what two blocks share is measured once. Older runs had strides of 512
  -- around the L2 cache, and the L1 cache as the driver makes it.
  measured AS (
    SELECT c.run, c.source_index, c.size_bytes, c.cycles_per_op, c.stride_bytes, c.block,
      max(CASE WHEN c.block = 'l2' THEN c.stride_bytes END) OVER (PARTITION BY c.run) AS l2_stride,
      max(c.block = 'l1_smallest') OVER (PARTITION BY c.run) AS sized
    FROM v_run_case c
    WHERE c.space = 'global' AND c.cache = 'l1' AND c.status = 'ok'
      AND c.block IN ('hierarchy', 'l1', 'l1_smallest', 'l2')
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'memory-hierarchy'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  load AS (
    SELECT m.run AS run, m.source_index AS gpu, m.size_bytes AS bytes, m.cycles_per_op AS cycles,
      CASE
        WHEN m.block = 'l1_smallest' THEN 'l1 smallest'
        WHEN m.stride_bytes = 128 AND m.size_bytes BETWEEN 8 << 10 AND 320 << 10
          AND (m.block = 'l1' OR NOT m.sized) THEN 'l1'
        WHEN m.stride_bytes = m.l2_stride AND m.size_bytes BETWEEN 4 << 20 AND 160 << 20 THEN 'l2'
      END AS cache
    FROM measured m),
  point AS (
    SELECT run, gpu, cache, bytes, cycles,
      ntile(4) OVER (PARTITION BY gpu, cache ORDER BY bytes) AS quarter
    FROM load WHERE cache IS NOT NULL),
  ranked AS (
    SELECT gpu, cache, quarter, cycles,
      row_number() OVER (PARTITION BY gpu, cache, quarter ORDER BY cycles) AS i,
      count(*) OVER (PARTITION BY gpu, cache, quarter) AS n
    FROM point),
  level AS (
    SELECT gpu, cache,
      avg(CASE WHEN quarter = 1 AND 2 * i BETWEEN n AND n + 2 THEN cycles END) AS low,
      avg(CASE WHEN quarter = 4 AND 2 * i BETWEEN n AND n + 2 THEN cycles END) AS high
    FROM ranked
    GROUP BY gpu, cache),
  knee AS (
    SELECT l.gpu, l.cache, l.low, l.high,
      (SELECT min(p.bytes) FROM point p
       WHERE p.gpu = l.gpu AND p.cache = l.cache AND p.cycles > l.low + 0.05 * (l.high - l.low))
        AS above,
      (SELECT min(p.bytes) FROM point p
       WHERE p.gpu = l.gpu AND p.cache = l.cache AND p.cycles > l.low + 0.5 * (l.high - l.low))
        AS half
    FROM level l)
SELECT
  'gpu' || k.gpu AS gpu,
  k.cache AS cache,
  k.low AS cycles,
  k.high AS cycles_beyond,
  -- Without a step up of a tenth there is no end of the cache in the sweep.
  CASE WHEN k.high > 1.1 * k.low THEN
    (SELECT max(p.bytes) FROM point p
     WHERE p.gpu = k.gpu AND p.cache = k.cache AND p.bytes < k.above) END AS knee_bytes,
  CASE WHEN k.high > 1.1 * k.low THEN
    k.above - (SELECT max(p.bytes) FROM point p
               WHERE p.gpu = k.gpu AND p.cache = k.cache AND p.bytes < k.above) END
    AS tolerance_bytes,
  CASE WHEN k.high > 1.1 * k.low THEN k.half END AS half_bytes,
  CASE k.cache WHEN 'l2' THEN
    (SELECT nullif(d.l2_bytes, 0) FROM device d
     JOIN run r ON r.environment = d.environment
     WHERE r.id = (SELECT min(run) FROM point) AND d.place = 'gpu' AND d.number = k.gpu) END
    AS gpu_says_bytes
FROM knee k
ORDER BY k.gpu, k.cache;
