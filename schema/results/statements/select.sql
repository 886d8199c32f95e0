-- Runs by the names that users give, lists of existing names for error messages, and baselines.

-- name: run_by_id
SELECT id, uuid FROM run WHERE id = :name;

-- name: latest_run
-- Runs of haul run --decide measure what is open alone: a whole run of the scenario comes before those that ended.
SELECT r.id, r.uuid
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.repeats IS NULL AND (r.looks IS NULL OR r.status <> 'done' OR NOT EXISTS (
  SELECT 1 FROM run w JOIN scenario o ON o.id = w.scenario
  WHERE o.name = s.name AND w.looks IS NULL AND w.repeats IS NULL))
ORDER BY r.started_at_ns DESC, r.id DESC LIMIT 1 OFFSET :name;

-- name: run_to_compare
-- The latest run of the scenario of run :name; 0: of any scenario, and one that measured a case.
SELECT r.id, r.uuid
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.repeats IS NULL AND (r.looks IS NULL OR r.status <> 'done' OR NOT EXISTS (
  SELECT 1 FROM run w JOIN scenario o ON o.id = w.scenario
  WHERE o.name = s.name AND w.looks IS NULL AND w.repeats IS NULL))
  AND CASE CAST(:name AS INTEGER)
    WHEN 0 THEN EXISTS (SELECT 1 FROM case_run c WHERE c.run = r.id AND c.status <> 'skipped')
    ELSE s.name = (SELECT o.name FROM run a JOIN scenario o ON o.id = a.scenario WHERE a.id = :name) END
ORDER BY r.started_at_ns DESC, r.id DESC LIMIT 1;

-- name: repeat_of_run
SELECT id, uuid FROM run WHERE repeats = (SELECT uuid FROM run WHERE id = :name) ORDER BY started_at_ns DESC, id DESC;

-- name: run_before
-- One without any result has nothing to compare with.
SELECT b.id, b.uuid
FROM run a
JOIN run b ON b.repeats IS NULL AND b.looks IS NULL AND (b.started_at_ns, b.id) < (a.started_at_ns, a.id)
JOIN scenario of_a ON of_a.id = a.scenario
JOIN scenario of_b ON of_b.id = b.scenario AND of_b.name = of_a.name
WHERE a.id = :name AND EXISTS (SELECT 1 FROM case_run c WHERE c.run = b.id AND c.status = 'ok')
ORDER BY b.started_at_ns DESC, b.id DESC LIMIT 1;

-- name: sides_to_compare
-- With run_before; runs with the tag and driver of that one are repeats of it, and come last. All runs of two tags tell
-- more than one of each.
SELECT CASE WHEN a.tag <> b.tag AND a.tag || b.tag NOT GLOB '*[^A-Za-z0-9._-]*'
  THEN printf('tag:%s tag:%s', b.tag, a.tag) ELSE printf('run:%d run:%d', b.id, a.id) END AS word
FROM run a
JOIN environment f ON f.id = a.environment
JOIN run b ON b.repeats IS NULL AND b.looks IS NULL AND (b.started_at_ns, b.id) < (a.started_at_ns, a.id)
JOIN environment e ON e.id = b.environment
JOIN scenario of_a ON of_a.id = a.scenario
JOIN scenario of_b ON of_b.id = b.scenario AND of_b.name = of_a.name
WHERE a.id = :name AND EXISTS (SELECT 1 FROM case_run c WHERE c.run = b.id AND c.status = 'ok')
ORDER BY ifnull(b.tag = a.tag AND e.driver_version IS f.driver_version, 0), b.started_at_ns DESC, b.id DESC LIMIT 1;

-- name: runs_of_fleet
-- :name 0: the fleet that was measured last, 1: the one of its scenario before it.
SELECT r.id, r.uuid
FROM v_fleet x
JOIN fleet f ON f.name = CASE :name WHEN '0' THEN x.fleet ELSE x.before END
JOIN run r ON r.fleet = f.id
WHERE x.age = 1
ORDER BY r.started_at_ns, r.id;

-- name: runs_of_named_fleet
SELECT r.id, r.uuid FROM fleet f JOIN run r ON r.fleet = f.id WHERE f.name = :name ORDER BY r.started_at_ns, r.id;

-- name: runs_by_prefix
-- word: as messages list it, with the name of selector.h.
SELECT r.id, r.uuid, 'run ' || r.id || ' (run:' || substr(r.uuid, 1, 20) || ', ' || s.name || ', '
  || strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch')
  || ifnull(', tag ' || nullif(r.tag, ''), '') || ')' AS word
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.uuid >= :name AND r.uuid < :name || 'g'
ORDER BY r.started_at_ns DESC, r.id DESC LIMIT 9;

-- name: runs_by_tag
SELECT id, uuid FROM run WHERE tag = :name ORDER BY started_at_ns, id;

-- name: runs_by_driver
SELECT r.id, r.uuid
FROM run r JOIN environment e ON e.id = r.environment
WHERE e.driver_version = :name OR e.driver_branch IN (:name, 'r' || :name)
ORDER BY r.started_at_ns, r.id;

-- name: runs_by_baseline
SELECT r.id, r.uuid FROM baseline b JOIN run r ON r.id = b.run WHERE b.name = :name
ORDER BY r.started_at_ns, r.id;

-- name: known_tags
SELECT tag AS word FROM run WHERE tag IS NOT NULL GROUP BY tag ORDER BY max(started_at_ns) DESC LIMIT 9;

-- name: known_drivers
SELECT DISTINCT e.driver_version AS word FROM environment e
WHERE e.driver_version IS NOT NULL AND EXISTS (SELECT 1 FROM run r WHERE r.environment = e.id)
ORDER BY 1 LIMIT 9;

-- name: known_baselines
SELECT DISTINCT name AS word FROM baseline ORDER BY 1 LIMIT 9;

-- name: delete_baseline
DELETE FROM baseline WHERE name = :name;

-- name: insert_baseline
INSERT INTO baseline (name, run, set_at_ns) VALUES (:name, :run, :set_at_ns);
