-- A figure of the Comm|Scope paper.
--
-- --param figure=2, 6, 7, 8, 9, 10 or 11. One row per point of a curve, in GB/s, from the latest run of comm-scope/fig02 ... fig11. low and high are the
-- 95 % interval of the median (one process), or the slowest and the fastest process. "local" and "remote" are
-- as seen from the GPU; for pageable_to_pinned, from the node of the source. x is the size in bytes of one
-- direction; in figure 10, to the host, the number of threads that touch 1 GiB.
--
-- plot: x=x y=gbps low=low high=high curve=series,curve by=plot axis=axis peak=peak_gbps
--     scale=log figure=comm-scope-fig*
--
-- narrow: plot,peak_gbps,axis,low,high,remark,series
--
-- :figure (integer, default null) number of the figure; null: the one measured last
-- :run (run, default null) the run to show; null: the latest of that figure
SELECT
  'figure ' || CAST(substr(c.scenario, 15) AS INTEGER) || CASE
    WHEN c.scenario <> 'comm-scope-fig10' THEN ''
    WHEN c.direction = 'device_to_host' THEN ', to the host by threads'
    ELSE ', to the GPU by size'
  END AS plot,
  CASE WHEN c.scenario <> 'comm-scope-fig10' THEN replace(c.block, '_remote', '') END AS series,
  CASE
    WHEN c.scenario = 'comm-scope-fig08' THEN c.path
    WHEN c.scenario = 'comm-scope-fig02'
      THEN CASE WHEN c.axes LIKE '%host_cache=flushed%' THEN 'flushed' ELSE 'warm' END
    WHEN c.block LIKE '%/_remote' ESCAPE '/' THEN 'remote'
    WHEN c.block = 'pageable_to_pinned' AND c.source_index <> c.target_index THEN 'remote'
    ELSE 'local'
  END AS curve,
  CASE WHEN c.axes LIKE '%unified.threads=%' THEN 'host threads' ELSE 'size_bytes' END AS axis,
  CASE
    WHEN c.axes LIKE '%unified.threads=%'
      THEN CAST(substr(c.axes, instr(c.axes, 'unified.threads=') + 16) AS INTEGER)
    ELSE c.size_bytes
  END AS x,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.peak_gbps AS peak_gbps,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (
    SELECT r.run FROM v_run r
    WHERE r.scenario GLOB 'comm-scope-fig[0-9][0-9]'
      AND (:figure IS NULL OR r.scenario = printf('comm-scope-fig%02d', :figure))
    ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.position;
