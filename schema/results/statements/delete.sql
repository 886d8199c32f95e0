-- Deleting runs: their ids come into a temporary table first.

-- name: begin
CREATE TEMP TABLE deleted_run (id INTEGER PRIMARY KEY);

-- name: add_run
INSERT OR IGNORE INTO temp.deleted_run (id) VALUES (:run);

-- name: delete_runs
-- Everything of the runs. Their numbers are not given again.
INSERT OR REPLACE INTO deleted_number (id, highest)
SELECT 1, highest
FROM (SELECT max(n) AS highest FROM (SELECT max(id) AS n FROM run UNION ALL SELECT highest FROM deleted_number))
WHERE highest IS NOT NULL;
DELETE FROM flow_trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM flow_run WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM case_note WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM deleted_run));
DELETE FROM case_run WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM process WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM check_result WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM telemetry WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM plan_alias WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM plan_case WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM baseline WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM run_fact WHERE run IN (SELECT id FROM deleted_run);
DELETE FROM run WHERE id IN (SELECT id FROM deleted_run);
CREATE TEMP TABLE deleted_case AS SELECT id FROM bench_case
EXCEPT SELECT bench_case FROM plan_case
EXCEPT SELECT bench_case FROM case_run
EXCEPT SELECT bench_case FROM plan_alias
EXCEPT SELECT measured_by FROM plan_alias;

-- name: delete_kinds
-- Gives the statements that delete what the tables of the kinds hold of cases that no run has any more.
SELECT 'DELETE FROM "' || t.name || '" WHERE "' || f."from" || '" IN (SELECT id FROM deleted_case)'
FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f
WHERE t.type = 'table' AND f."table" = 'bench_case';

-- name: delete_unused
-- What no run has any more.
DELETE FROM bench_case WHERE id IN (SELECT id FROM deleted_case);
DELETE FROM fleet_node WHERE fleet NOT IN (SELECT fleet FROM run WHERE fleet IS NOT NULL);
DELETE FROM fleet WHERE id NOT IN (SELECT fleet FROM run WHERE fleet IS NOT NULL);
DELETE FROM merged_input; -- merging brings a deleted run back
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
