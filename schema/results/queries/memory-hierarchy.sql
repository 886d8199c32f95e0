-- Latency of a GPU's memory over footprint and stride.
--
-- One row per point of a curve, from the latest run of memory-hierarchy: cycles and ns per access. cache is the
-- nearest cache that loads may hit, "l1 smallest" an L1 beside the largest shared memory and "l1 largest" one beside
-- none. access is the order of the addresses: random, or strided as in the study. hops is the number of loads between two readings of the clock: where it is
-- small, the reading contributes to the latency.
--
-- of: memory-hierarchy
--
-- plot: x=footprint_bytes y=cycles curve=cache,stride_bytes,access by=gpu unit=cycles/access scale=semilog
--
-- narrow: hops,ns,remark,access,stride_bytes
--
-- :run (run, default null) the run to show; without it: the latest of memory-hierarchy
SELECT
  c.source_place || c.source_index AS gpu,
  c.cache || CASE WHEN c.block = 'l1_smallest' THEN ' smallest'
                  WHEN c.block = 'l1' AND max(c.block = 'l1_smallest') OVER () THEN ' largest' ELSE '' END AS cache,
  c.hop_order AS access,
  c.stride_bytes AS stride_bytes,
  c.size_bytes AS footprint_bytes,
  (SELECT p.hops FROM v_case p WHERE p.run = c.run AND p.case_key = c.case_key LIMIT 1) AS hops,
  c.cycles_per_op AS cycles,
  c.ns_per_op AS ns,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped' AND c.space = 'global'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'memory-hierarchy'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, c.hop_order, cache, c.stride_bytes, c.size_bytes, hops;
