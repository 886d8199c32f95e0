-- What haul show, tag and delete need of runs.

-- name: scenario_of_run
SELECT s.name, s.text, s.resolved, r.scenario_path AS path, r.command_line, r.started_at_ns,
  r.origin = 'measured' AS measured, e.host_name AS host, e.driver_version AS driver, e.simulated,
  r.status, r.reason, r.processes * (SELECT count(*) FROM plan_case p WHERE p.run = r.id)
    - r.processes * (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status = 'skipped') AS cases_wanted,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status <> 'skipped') AS cases_measured
FROM run r JOIN scenario s ON s.id = r.scenario JOIN environment e ON e.id = r.environment
WHERE r.id = :run;

-- name: failure_of_run
SELECT ifnull(reason, 'no reason is recorded') AS word FROM run WHERE id = :run AND status = 'failed';

-- name: set_tag
UPDATE run SET tag = :tag WHERE id = :run;

-- name: run_to_delete
SELECT s.name AS scenario, r.tag, r.status = 'running' AS running,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  (SELECT group_concat(b.name, ', ') FROM baseline b WHERE b.run = r.id) AS baselines,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id) AS results
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;

-- name: running_runs
-- Runs of a host that have not ended.
SELECT r.id, r.uuid FROM run r JOIN environment e ON e.id = r.environment
WHERE r.status = 'running' AND r.origin = 'measured' AND e.host_name = :host
ORDER BY r.id;

-- name: old_health_runs
-- Of the scenario of that name, begun before :before: without a tag, a baseline or a fleet.
SELECT r.id, r.uuid FROM run r JOIN scenario s ON s.id = r.scenario
WHERE s.name = :scenario AND r.started_at_ns < :before AND r.tag IS NULL AND r.fleet IS NULL AND r.status <> 'running'
  AND r.id NOT IN (SELECT run FROM baseline)
ORDER BY r.started_at_ns LIMIT :limit;

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
SELECT 100 * f.freelist_count / max(p.page_count, 1) AS percent FROM pragma_freelist_count f, pragma_page_count p;

-- name: shrink
VACUUM;
