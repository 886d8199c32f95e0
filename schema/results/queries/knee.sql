-- The least parallelism that is enough: where a curve comes within 5 % of its best.
--
-- One row per curve of the latest runs of grid-sweep, shared-cache-scaling and stream: the least number of
-- blocks, threads or elements whose rate is within 5 % of the best one, the best one, and the rate at the end of
-- the curve, which is lower where more parallelism costs. Arrays of stream that fit the L2 cache, which have no
-- peak, are left out. knee_per_sm is the number of blocks by that of the GPU's SMs.
--
-- of: grid-sweep,shared-cache-scaling,stream
--
-- narrow: knee_per_sm,last_gbps,last,best_at,best_gbps,scenario
--
-- :share (real, default 0.95) of the best that is enough
-- :run (run, default null) the run to show; without it: the latest of each scenario
WITH
  latest AS (
    SELECT r.run, r.scenario, row_number() OVER (PARTITION BY r.scenario ORDER BY r.started_at_ns DESC, r.run DESC) AS age
    FROM v_run r WHERE r.scenario IN ('grid-sweep', 'shared-cache-scaling', 'stream')),
  swept AS (
    SELECT l.run, l.scenario, c.source_index, c.source_place || c.source_index AS gpu, c.gbps, c.position,
      CASE l.scenario
        WHEN 'stream' THEN c.operation || ', ' || CASE c.block WHEN 'threads' THEN '2^26 elements' ELSE '1024 threads' END
        WHEN 'grid-sweep' THEN c.operation
        ELSE CASE c.cache WHEN 'l2' THEN 'L2, ' ELSE 'L1, ' || (c.size_bytes / 1024) || ' KiB, ' END || c.block_threads || ' threads'
      END AS curve,
      CASE WHEN l.scenario <> 'stream' THEN 'blocks' ELSE c.block END AS of,
      CASE WHEN l.scenario <> 'stream' THEN CAST(c.grid_blocks AS INTEGER)
        WHEN c.block = 'threads' THEN c.block_threads ELSE c.size_bytes / 8 END AS x
    FROM latest l CROSS JOIN v_run_case c ON c.run = l.run
    WHERE l.run = coalesce(:run, CASE WHEN l.age = 1 THEN l.run END)
      AND c.kind = 'stream' AND c.source_place = 'gpu' AND c.status = 'ok' AND c.gbps IS NOT NULL
      AND (l.scenario <> 'stream' OR c.block IN ('threads', 'elements')
        AND (c.peak_gbps IS NOT NULL
          OR NOT EXISTS (SELECT 1 FROM plan_case p WHERE p.run = c.run AND p.peak_bytes_per_second > 0)))),
  judged AS (
    SELECT s.*, min(s.position) OVER w AS place, max(s.gbps) OVER w AS best_gbps,
      first_value(s.x) OVER (w ORDER BY s.gbps DESC, s.x) AS best_at,
      first_value(s.x) OVER (w ORDER BY s.x DESC) AS last,
      first_value(s.gbps) OVER (w ORDER BY s.x DESC) AS last_gbps
    FROM swept s WINDOW w AS (PARTITION BY s.scenario, s.gpu, s.curve))
SELECT
  j.gpu AS gpu,
  j.scenario AS scenario,
  j.curve AS curve,
  j.of AS of,
  min(j.x) AS knee,
  j.gbps AS gbps,
  j.best_at AS best_at,
  j.best_gbps AS best_gbps,
  j.last AS last,
  j.last_gbps AS last_gbps,
  CASE WHEN j.of = 'blocks' THEN round(1.0 * min(j.x) / d.sm_count, 2) END AS knee_per_sm
FROM judged j
LEFT JOIN v_gpu d ON d.run = j.run AND d.gpu = j.source_index
WHERE j.gbps >= :share * j.best_gbps
GROUP BY j.scenario, j.gpu, j.curve
ORDER BY j.source_index, j.scenario, j.place;
