-- What haul prune and haul compact do.

-- name: begin
CREATE TEMP TABLE pruned (id INTEGER PRIMARY KEY);

-- name: choose
-- Runs that began before :before and have trials, but for those that a baseline names where :keep_baselines says so.
INSERT INTO temp.pruned (id)
SELECT r.id FROM run r
WHERE r.started_at_ns < :before AND r.status <> 'running' AND r.pruned_at_ns IS NULL AND r.origin = 'measured'
  AND (NOT :keep_baselines OR r.id NOT IN (SELECT run FROM baseline));

-- name: keep
DELETE FROM temp.pruned WHERE id = :run;

-- name: count
SELECT count(*) AS runs,
  (SELECT count(*) FROM temp.pruned p JOIN case_run c ON c.run = p.id JOIN trial t ON t.case_run = c.id) AS trials
FROM temp.pruned;

-- name: prune
DELETE FROM flow_trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM temp.pruned));
DELETE FROM trial WHERE case_run IN
  (SELECT c.id FROM case_run c WHERE c.run IN (SELECT id FROM temp.pruned));

-- name: mark
UPDATE run SET pruned_at_ns = :now WHERE id IN (SELECT id FROM temp.pruned);

-- name: end
DROP TABLE temp.pruned;
