-- The samples that `haul identify` compares.
--
-- One row per run, GPU and feature: the median time of a case that one GPU measured by itself (streams,
-- instructions, loads from its own memory), for the given run and for earlier runs that measured some of the
-- same features. A feature is the definition of a case without the number of the GPU; block is the one of the given
-- run that measured it.
--
-- about: comparison
--
-- narrow: run_uuid,uuid,gpu_name,host_name,started_at
--
-- empty: the database has no run of fingerprint; haul run fingerprint measures one
--
-- :run (run, default latest) the run to identify
WITH
  own AS (
    SELECT c.run AS run, c.target_index AS gpu, c.median_ns AS median_ns, c.block AS block,
      (SELECT replace(
          replace(b.definition, '"index":' || c.target_index || ',', '"index":0,'),
          '"gpu":' || c.target_index || ',', '"gpu":0,')
       FROM bench_case b WHERE b.case_key = c.case_key LIMIT 1) AS feature
    FROM v_run_case c
    WHERE c.status = 'ok' AND c.target_place = 'gpu'
      AND (c.kind IN ('stream', 'arithmetic') OR c.space IN ('global', 'shared'))
      -- What the given run measured, wherever a GPU stood.
      AND c.bench_case IN (
        SELECT o.id FROM bench_case o WHERE o.kind IN ('stream', 'arithmetic', 'chase')
          AND EXISTS (SELECT 1 FROM plan_case p JOIN bench_case g ON g.id = p.bench_case
                      WHERE p.run = :run AND g.kind = o.kind))),
  wanted AS (SELECT feature, min(block) AS block FROM own WHERE run = :run GROUP BY feature)
SELECT
  o.run AS run,
  v.run_uuid AS run_uuid,
  v.started_at AS started_at,
  v.host_name AS host_name,
  o.gpu AS gpu,
  d.uuid AS uuid,
  d.name AS gpu_name,
  o.feature AS feature,
  o.median_ns AS median_ns,
  f.block AS block
FROM own o
JOIN wanted f ON f.feature = o.feature
JOIN run r ON r.id = o.run
JOIN v_run v ON v.run = o.run
JOIN run t ON t.id = :run
JOIN v_run w ON w.run = :run
JOIN device d ON d.environment = r.environment AND d.place = 'gpu' AND d.number = o.gpu
WHERE v.simulated = w.simulated
  AND (o.run = :run OR (r.started_at_ns, r.id) < (t.started_at_ns, t.id))
  AND d.uuid <> ''
ORDER BY o.run = :run, r.started_at_ns, o.run, o.gpu, o.feature;
