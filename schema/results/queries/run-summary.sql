-- A run: what was measured, when, where and with what outcome.
--
-- One row, with the columns of v_run (times in UTC, duration in s), the description of the scenario and the
-- number of worker processes that measured, which differs from the requested number if the run was interrupted
-- or workers died. wrong counts cases with a failed result, measured those with a number.
--
-- about: results
--
-- narrow: pruned_at,cpu_model,kernel,os,command_line,scenario_path,description,run_uuid,only_glob,origin,node_count
-- narrow: cuda_driver_version,haul_version,processes_started,simulated,driver_version,gpu_name,gpu_count
-- narrow: host_name,checks,ended_at,duration_s,processes,skipped,reason,checks_failed,tag,wrong,cases
-- narrow: measured,status
--
-- :run (run, default latest) the run to show
SELECT
  r.run AS run,
  r.run_uuid AS run_uuid,
  r.scenario AS scenario,
  (SELECT s.description FROM run x JOIN scenario s ON s.id = x.scenario WHERE x.id = r.run)
    AS description,
  r.scenario_path AS scenario_path,
  r.tag AS tag,
  r.status AS status,
  r.reason AS reason,
  r.origin AS origin,
  r.started_at AS started_at,
  r.ended_at AS ended_at,
  r.duration_s AS duration_s,
  r.host_name AS host_name,
  (SELECT e.os FROM run x JOIN environment e ON e.id = x.environment WHERE x.id = r.run) AS os,
  r.kernel AS kernel,
  (SELECT e.cpu_model FROM run x JOIN environment e ON e.id = x.environment WHERE x.id = r.run)
    AS cpu_model,
  r.node_count AS node_count,
  r.gpu_count AS gpu_count,
  r.gpu_name AS gpu_name,
  r.driver_version AS driver_version,
  r.cuda_driver_version AS cuda_driver_version,
  r.simulated AS simulated,
  r.haul_version AS haul_version,
  r.command_line AS command_line,
  (SELECT x.only_glob FROM run x WHERE x.id = r.run) AS only_glob,
  r.processes AS processes,
  (SELECT count(*) FROM process p WHERE p.run = r.run) AS processes_started,
  r.cases AS cases,
  (SELECT count(DISTINCT c.bench_case) FROM case_run c WHERE c.run = r.run AND c.status = 'ok')
    AS measured,
  r.skipped AS skipped,
  (SELECT count(DISTINCT c.bench_case) FROM case_run c
   WHERE c.run = r.run AND c.status NOT IN ('ok', 'skipped')) AS wrong,
  -- A resumed run checks again.
  (SELECT count(*) FROM (SELECT DISTINCT k.name, k.gpu FROM check_result k WHERE k.run = r.run)) AS checks,
  r.checks_failed AS checks_failed,
  r.pruned_at AS pruned_at
FROM v_run r
WHERE r.run = :run;
