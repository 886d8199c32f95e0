-- Latency of a GPU's memory over footprint and stride.
--
-- One row a point of a curve: what the latest run of memory-hierarchy measured, in cycles and ns a
-- load; cache is the nearest one that loads may hit.
--
-- :run (run, default null) another run than the latest of memory-hierarchy
SELECT
  c.source_place || c.source_index AS gpu,
  c.cache AS cache,
  c.stride_bytes AS stride_bytes,
  c.size_bytes AS footprint_bytes,
  c.cycles_per_op AS cycles,
  c.ns_per_op AS ns,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped' AND c.space = 'global'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'memory-hierarchy'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, c.cache, c.stride_bytes, c.size_bytes;
