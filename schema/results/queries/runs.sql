-- Every run in the database, the latest first.
--
-- started_at is in UTC. cases is the number of planned cases, skipped the number of those that this machine cannot
-- run. Every other case is measured once per process, which gives the number of results expected: ok of them
-- have a number, bad of them failed, crashed, hung or were corrupt.
--
-- :limit (integer, default 50) number of runs
SELECT
  r.run AS run,
  substr(r.started_at, 1, 16) AS started_at,
  r.scenario AS scenario,
  r.tag AS tag,
  r.status AS status,
  r.cases AS cases,
  r.skipped AS skipped,
  r.processes AS processes,
  (r.cases - r.skipped) * r.processes AS expected,
  r.ok AS ok,
  r.not_ok AS bad,
  r.host_name AS host,
  r.gpu_name AS gpu,
  r.driver_version AS driver,
  CASE r.simulated WHEN 1 THEN 'simulated' END AS remark
FROM v_run r
ORDER BY r.started_at DESC, r.run DESC
LIMIT :limit;
