-- Comm|Scope, figure 8: GPU to GPU with and without peer access.
--
-- One row a point of a curve: what the latest run of comm-scope/fig08 measured, in GB/s; a curve
-- for every pair of GPUs.
--
-- :run (run, default null) another run than the latest of this figure
SELECT
  c.block AS series,
  c.path AS pair,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'comm-scope-fig08'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.block DESC, c.source_index, c.target_index, c.size_bytes;
