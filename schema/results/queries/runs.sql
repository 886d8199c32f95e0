-- Every run in the database, the latest first.
--
-- ok and not_ok count results, one a case and process; skipped counts cases.
--
-- :limit (integer, default 50) number of runs
SELECT
  r.run AS run,
  substr(r.run_uuid, 1, 13) AS id,
  r.started_at AS started_at,
  r.scenario AS scenario,
  r.tag AS tag,
  r.status AS status,
  r.processes AS processes,
  r.cases AS cases,
  r.ok AS ok,
  r.not_ok AS not_ok,
  r.skipped AS skipped,
  r.host_name AS host_name,
  r.gpu_name AS gpu_name,
  r.driver_version AS driver_version,
  CASE r.simulated WHEN 1 THEN 'simulated' END AS remark
FROM v_run r
ORDER BY r.started_at DESC, r.run DESC
LIMIT :limit;
