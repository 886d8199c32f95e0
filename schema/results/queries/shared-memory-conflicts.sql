-- Latency of shared memory by bank conflicts, in cycles.
--
-- One row per number of threads of a warp that access one bank: the lowest latency with that many, with one
-- full warp or more, from the latest run of shared-memory-latency. Shared memory has 32 banks of 4 bytes, so a
-- stride of n elements makes n threads conflict. cycles_per_way is the increase per additional thread.
--
-- of: shared-memory-latency
--
-- narrow: above_none,cycles_per_way
--
-- :run (run, default null) the run to show; without it: the latest of shared-memory-latency
WITH way AS (
  SELECT c.source_place || c.source_index AS gpu, c.source_index AS number,
    c.stride_bytes / 4 AS ways, min(c.cycles_per_op) AS cycles
  FROM v_run_case c
  WHERE c.space = 'shared' AND c.block_threads >= 32 AND c.status = 'ok'
    AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'shared-memory-latency'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
  GROUP BY c.source_index, c.stride_bytes)
SELECT
  w.gpu AS gpu,
  CASE w.ways WHEN 1 THEN 'none' ELSE w.ways || '-way' END AS bank_conflict,
  w.cycles AS cycles,
  w.cycles - n.cycles AS above_none,
  (w.cycles - n.cycles) / nullif(w.ways - 1, 0) AS cycles_per_way
FROM way w
LEFT JOIN way n ON n.number = w.number AND n.ways = 1
ORDER BY w.number, w.ways;
