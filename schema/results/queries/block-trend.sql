-- How fast each block of a run was in earlier runs of its scenario on this host.
--
-- One row per block and run, the oldest first: the mean change in speed of the cases that both runs have, in per cent of
-- the run that is shown. A scenario is its name; cases are the same where their case_key is.
--
-- plot: x=run y=percent curve=block unit=% scale=linear
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
  now AS (
    SELECT c.block, c.bench_case, c.median_ns FROM v_run_case c WHERE c.run = :run AND c.status = 'ok')
SELECT
  n.block AS block,
  e.run AS run,
  e.run_uuid AS run_uuid,
  e.started_at AS started_at,
  e.driver_version AS driver_version,
  count(*) AS cases,
  100.0 * (avg(n.median_ns / c.median_ns) - 1) AS percent
FROM earlier e
CROSS JOIN v_run_case c ON c.run = e.run
JOIN now n ON n.bench_case = c.bench_case
WHERE c.status = 'ok'
GROUP BY n.block, e.run
ORDER BY n.block, e.started_at_ns, e.run;
