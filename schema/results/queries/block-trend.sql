-- How fast each block of a run was in earlier runs of its scenario on this host.
--
-- One row per block and run, the oldest first: the mean change in speed of the cases that both runs have, in per cent of
-- the run that is shown. A scenario is its name; cases are the same where their case_key is, on the same host and GPUs
-- (by their UUIDs, as in haul history).
--
-- plot: x=run y=percent curve=block unit=% scale=linear
--
-- about: comparison
--
-- narrow: run_uuid,cases,driver_version,started_at
--
-- empty: no case of the run has a number
--
-- :run (run, default latest) the run to show
-- :runs (integer, default 30) the most runs of a block, that one included
WITH
  own AS (SELECT r.run, r.scenario, r.node, r.simulated, r.started_at_ns FROM v_run r WHERE r.run = :run),
  earlier AS (
    SELECT r.run, r.run_uuid, r.started_at, r.started_at_ns, r.driver_version
    FROM own o JOIN v_run r ON r.scenario = o.scenario AND r.node IS o.node AND r.simulated = o.simulated
      AND r.started_at_ns <= o.started_at_ns
    ORDER BY r.started_at_ns DESC, r.run DESC
    LIMIT :runs),
  -- Places that had another GPU, or one that is not known.
  swapped AS (
    SELECT e.run, d.number AS gpu
    FROM run o CROSS JOIN earlier e JOIN run r ON r.id = e.run AND r.environment <> o.environment
    JOIN device d ON d.environment = o.environment AND d.place = 'gpu'
    LEFT JOIN device x ON x.environment = r.environment AND x.place = 'gpu' AND x.number = d.number
    WHERE o.id = :run AND x.uuid IS NOT d.uuid),
  -- One pass over the results of these runs; the median over the processes of each is the middle one or two.
  ranked AS (
    SELECT c.run, c.bench_case, c.median_ns,
      row_number() OVER (PARTITION BY c.run, c.bench_case ORDER BY c.median_ns) AS i,
      count(*) OVER (PARTITION BY c.run, c.bench_case) AS n
    FROM earlier e CROSS JOIN case_run c ON c.run = e.run AND c.status = 'ok' AND c.median_ns IS NOT NULL),
  result AS (
    SELECT run, bench_case, avg(median_ns) AS ns FROM ranked WHERE 2 * i BETWEEN n AND n + 2 GROUP BY run, bench_case)
SELECT
  b.block AS block,
  e.run AS run,
  e.run_uuid AS run_uuid,
  e.started_at AS started_at,
  e.driver_version AS driver_version,
  count(*) AS cases,
  100.0 * (avg(n.ns / c.ns) - 1) AS percent
FROM result n
JOIN result c ON c.bench_case = n.bench_case
JOIN bench_case b ON b.id = n.bench_case
JOIN earlier e ON e.run = c.run
WHERE n.run = :run AND NOT EXISTS (
  SELECT 1 FROM swapped s
  WHERE s.run = c.run AND (
    (b.source_place = 'gpu' AND b.source_index = s.gpu) OR (b.target_place = 'gpu' AND b.target_index = s.gpu)
    OR EXISTS (
      SELECT 1 FROM flow f
      WHERE f.bench_case = b.id
        AND ((f.source_place = 'gpu' AND f.source_index = s.gpu) OR (f.target_place = 'gpu' AND f.target_index = s.gpu)))))
GROUP BY b.block, e.run
ORDER BY b.block, e.started_at_ns, e.run;
