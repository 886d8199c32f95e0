-- Comm|Scope, figure 2: copies from warm and from flushed host caches.
--
-- One row a point of a curve: what the latest run of comm-scope/fig02 measured, in GB/s. low and
-- high are the 95 % interval of the median, or the slowest and fastest process.
--
-- :run (run, default null) another run than the latest of this figure
SELECT
  c.block AS series,
  CASE WHEN c.axes LIKE '%host_cache=flushed%' THEN 'flushed' ELSE 'warm' END AS host_cache,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'comm-scope-fig02'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.block DESC, host_cache DESC, c.size_bytes;
