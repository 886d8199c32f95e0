-- Unified memory: the bandwidth of pages that migrate because they are written.
--
-- One row per pair of places and size, from the latest run of um-coherence, with the names of Comm|Scope. GB/s are
-- those of pages that are proven to have moved (verified); pages_per_us are the pages touched per microsecond, wherever
-- they are.
--
-- of: um-coherence
--
-- plot: x=size_bytes y=gbps|pages_per_us low=low high=high curve=source,target by=benchmark scale=log
--
-- narrow: low,high,remark,pages_per_us
--
-- :run (run, default null) the run to show; without it: the latest of um-coherence
WITH asked AS (
  SELECT coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'um-coherence'
                         ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)) AS run)
SELECT
  replace(c.block, 'Comm_UM_Coherence_', '') AS benchmark,
  c.source_place || c.source_index AS source,
  c.target_place || c.target_index AS target,
  c.size_bytes AS size_bytes,
  CASE WHEN p.moved THEN c.gbps END AS gbps,
  CASE WHEN p.moved THEN c.gbps_low END AS low,
  CASE WHEN p.moved THEN c.gbps_high END AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason
    WHEN NOT p.moved THEN 'nothing proves that the pages moved' END AS remark,
  c.gbps * 1000 / (SELECT f.value
    FROM run r JOIN environment_fact f ON f.environment = r.environment AND f.name = 'page_size' AND f.state = 'ok'
    WHERE r.id = c.run) AS pages_per_us
FROM v_run_case c
LEFT JOIN (
  SELECT run, bench_case, min(verified) AS moved FROM case_run WHERE run = (SELECT run FROM asked) GROUP BY run, bench_case) p
  ON p.run = c.run AND p.bench_case = c.bench_case
WHERE c.status <> 'skipped' AND c.run = (SELECT run FROM asked)
ORDER BY c.block, c.source_index, c.target_index, c.size_bytes;
