-- Unified memory: the bandwidth of pages that migrate because they are written.
--
-- One row per pair of places and size, in GB/s, from the latest run of um-coherence, with the names of Comm|Scope.
--
-- of: um-coherence
--
-- plot: x=size_bytes y=gbps low=low high=high curve=source,target by=benchmark scale=log
--
-- narrow: low,high,remark
--
-- :run (run, default null) the run to show; null: the latest of um-coherence
SELECT
  replace(c.block, 'Comm_UM_Coherence_', '') AS benchmark,
  c.source_place || c.source_index AS source,
  c.target_place || c.target_index AS target,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'um-coherence'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.block, c.source_index, c.target_index, c.size_bytes;
