-- What haul show, tag and delete need of runs.

-- name: scenario_of_run
SELECT s.name, s.text, s.resolved, r.scenario_path, r.command_line,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch')
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;

-- name: set_tag
UPDATE run SET tag = :tag WHERE id = :run;

-- name: run_to_delete
SELECT s.name, r.tag, r.status,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch'),
  (SELECT group_concat(b.name, ', ') FROM baseline b WHERE b.run = r.id),
  (SELECT count(*) FROM case_run c WHERE c.run = r.id)
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;

-- name: begin_delete
CREATE TEMP TABLE deleted_run (id INTEGER PRIMARY KEY);

-- name: add_deleted
INSERT OR IGNORE INTO deleted_run (id) VALUES (:run);

-- name: delete_runs
-- Everything of the runs, then what no run has any more.
DELETE FROM flow_trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM flow_run WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM case_run WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM process WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM check_result WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM telemetry WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM plan_alias WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM plan_case WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM baseline WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM run WHERE id IN (SELECT id FROM deleted_run);
CREATE TEMP TABLE deleted_case AS SELECT id FROM bench_case
EXCEPT SELECT bench_case FROM plan_case
EXCEPT SELECT bench_case FROM case_run
EXCEPT SELECT bench_case FROM plan_alias
EXCEPT SELECT measured_by FROM plan_alias;
DELETE FROM flow WHERE bench_case IN (SELECT id FROM deleted_case);
DELETE FROM chase WHERE bench_case IN (SELECT id FROM deleted_case);
DELETE FROM stream WHERE bench_case IN (SELECT id FROM deleted_case);
DELETE FROM arithmetic WHERE bench_case IN (SELECT id FROM deleted_case);
DELETE FROM overhead WHERE bench_case IN (SELECT id FROM deleted_case);
DELETE FROM bench_case WHERE id IN (SELECT id FROM deleted_case);
DELETE FROM scenario WHERE id NOT IN (SELECT scenario FROM run);
CREATE TEMP TABLE deleted_environment AS SELECT id FROM environment
EXCEPT SELECT environment FROM run;
DELETE FROM link WHERE environment IN (SELECT id FROM deleted_environment);
DELETE FROM device WHERE environment IN (SELECT id FROM deleted_environment);
DELETE FROM environment_fact WHERE environment IN (SELECT id FROM deleted_environment);
DELETE FROM environment WHERE id IN (SELECT id FROM deleted_environment);
DROP TABLE deleted_run;
DROP TABLE deleted_case;
DROP TABLE deleted_environment;

-- name: run_words
-- Names of runs, for completion: the newest runs, every tag, driver and baseline.
SELECT word FROM (
  SELECT 0 AS place, 'latest' AS word UNION ALL SELECT 1, 'previous'
  UNION ALL SELECT 2, 'run:' || id FROM (SELECT id FROM run ORDER BY started_at_ns DESC, id DESC LIMIT 100)
  UNION ALL SELECT DISTINCT 3, 'tag:' || tag FROM run WHERE tag IS NOT NULL
  UNION ALL SELECT DISTINCT 4, 'driver:' || driver_version FROM environment WHERE driver_version IS NOT NULL
  UNION ALL SELECT DISTINCT 5, 'baseline:' || name FROM baseline)
ORDER BY place, word;

-- name: free_share
-- Per cent of the file that no row uses.
SELECT 100 * f.freelist_count / max(p.page_count, 1) FROM pragma_freelist_count f, pragma_page_count p;

-- name: shrink
VACUUM;
