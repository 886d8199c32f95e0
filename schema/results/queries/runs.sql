-- Every run in the database, the latest first.
--
-- started_at is in UTC. cases is the number of planned cases, skipped the number of those that this machine cannot
-- run. Every other case is measured once per process, which gives the number of results planned: ok of them
-- have a number, not_ok of them failed, crashed, hung or were corrupt. duration_s is the time from start to end,
-- including the pause before `--resume`.
-- `haul list runs` shows "14 of 78" for a run that has 14 of its 78 planned results.
--
-- columns: v_run
-- column reason: why the run was interrupted, was killed or failed; if it is `done`: the GPUs that could not be measured
-- column remark: `simulated`, if the fake driver played the machine
--
-- about: results
--
-- narrow: planned,skipped,gpu_name,remark,reason,duration_s,host_name,processes,not_ok,cases,driver_version,scenario;ok,status,tag
--
-- empty: the database has no run
--
-- :limit (integer, default 50) number of runs
-- :tag (text, default null) glob of tags: only runs with such a tag
-- :runs (text, default null) JSON array of numbers: only these runs
-- :killed (text, default null) JSON array of numbers: runs whose haul was killed, as `haul list runs` finds them
SELECT
  r.run AS run,
  r.started_at AS started_at,
  round(r.duration_s, 1) AS duration_s,
  r.scenario AS scenario,
  r.tag AS tag,
  r.status AS status,
  r.cases AS cases,
  r.skipped AS skipped,
  r.processes AS processes,
  r.planned AS planned,
  r.ok AS ok,
  r.not_ok AS not_ok,
  r.node AS host_name,
  r.gpu_name AS gpu_name,
  r.driver_version AS driver_version,
  CASE r.simulated WHEN 1 THEN 'simulated' END AS remark,
  CASE WHEN r.run IN (SELECT value FROM json_each(:killed)) THEN 'haul was killed, or measures it elsewhere'
    ELSE r.reason END AS reason
FROM v_run r
-- The limit comes before the counts.
WHERE r.run IN (
  SELECT x.id FROM run x
  WHERE (:tag IS NULL OR x.tag GLOB :tag)
    AND (:runs IS NULL OR x.id IN (SELECT value FROM json_each(:runs)))
  ORDER BY x.started_at_ns DESC, x.id DESC
  LIMIT :limit)
ORDER BY r.started_at_ns DESC, r.run DESC;
