-- Every run in the database, the latest first.
--
-- started_at is in UTC. cases is what was planned; ok and not_ok count results, one a case and
-- process.
--
-- :limit (integer, default 50) number of runs
SELECT
  r.run AS run,
  substr(r.started_at, 1, 16) AS started_at,
  r.scenario AS scenario,
  r.tag AS tag,
  r.status AS status,
  r.cases AS cases,
  r.ok AS ok,
  r.not_ok AS not_ok,
  r.host_name AS host,
  r.gpu_name AS gpu,
  r.driver_version AS driver,
  CASE r.simulated WHEN 1 THEN 'simulated' END AS remark
FROM v_run r
ORDER BY r.started_at DESC, r.run DESC
LIMIT :limit;
