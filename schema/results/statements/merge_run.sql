-- A run that both have grew in one of them, when it was resumed. Results are only ever added to it,
-- workers only ever started, and an end replaces no end: which of the two states is the later one
-- does not depend on the order in which they are met.
DELETE FROM temp.merge_run;
INSERT INTO temp.merge_run (input, output, known, later, results)
SELECT i.id, m.id, m.id IS NOT NULL,
  m.id IS NOT NULL
  AND ((SELECT count(*) FROM input.case_run c WHERE c.run = i.id),
       (SELECT ifnull(sum(p.workers), 0) FROM input.process p WHERE p.run = i.id),
       ifnull(i.ended_at_ns, 0), i.status, ifnull(i.reason, ''), ifnull(i.tag, ''))
    > ((SELECT count(*) FROM main.case_run c WHERE c.run = m.id),
       (SELECT ifnull(sum(p.workers), 0) FROM main.process p WHERE p.run = m.id),
       ifnull(m.ended_at_ns, 0), m.status, ifnull(m.reason, ''), ifnull(m.tag, '')),
  0
FROM input.run i
LEFT JOIN main.run m ON m.uuid = i.uuid;

INSERT INTO main.run (
  uuid, environment, scenario, scenario_path, origin, tag, only_glob, command_line, haul_version,
  processes, case_order, seed, telemetry_ns, started_at_ns, ended_at_ns, status, reason)
SELECT
  i.uuid, e.id, s.id, i.scenario_path, i.origin, i.tag, i.only_glob, i.command_line, i.haul_version,
  i.processes, i.case_order, i.seed, i.telemetry_ns, i.started_at_ns, i.ended_at_ns, i.status,
  i.reason
FROM temp.merge_run r
JOIN input.run i ON i.id = r.input
JOIN input.environment ie ON ie.id = i.environment
JOIN main.environment e ON e.key = ie.key
JOIN input.scenario ins ON ins.id = i.scenario
JOIN main.scenario s ON s.key = ins.key
WHERE r.known = 0
ORDER BY i.started_at_ns, i.uuid;

UPDATE temp.merge_run SET output = (
  SELECT m.id FROM input.run i JOIN main.run m ON m.uuid = i.uuid
  WHERE i.id = temp.merge_run.input);

UPDATE main.run SET (status, reason, ended_at_ns, tag) = (
  SELECT i.status, i.reason, i.ended_at_ns, i.tag
  FROM temp.merge_run r JOIN input.run i ON i.id = r.input
  WHERE r.output = main.run.id)
WHERE id IN (SELECT output FROM temp.merge_run WHERE later = 1);
