-- Comm|Scope, figure 7: both ways at once, pageable and pinned.
--
-- One row a point of a curve: what the latest run of comm-scope/fig07 measured, in GB/s. Bytes of
-- both directions count; size_bytes is that of one.
--
-- :run (run, default null) another run than the latest of this figure
SELECT
  replace(c.block, '_remote', '') AS series,
  CASE WHEN c.block LIKE '%/_remote' ESCAPE '/' THEN 'remote' ELSE 'local' END AS place,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'comm-scope-fig07'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.position;
