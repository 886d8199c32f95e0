-- A copy of a template's only run, of one process, as that of one node of a fleet: make_fleet.c puts what is new into `node`, and
-- has the functions factor(), which says by how much longer a result takes there, and digest(), which makes keys and
-- UUIDs of what they are given.
UPDATE environment SET
  key = digest(32, 'environment', (SELECT name FROM node), (SELECT driver FROM node), (SELECT occasion FROM node)),
  host_name = (SELECT name FROM node),
  boot_id = digest(32, 'boot', (SELECT name FROM node), (SELECT occasion FROM node)),
  driver_version = coalesce((SELECT driver FROM node), driver_version);
UPDATE environment_fact SET value = (SELECT boot_id FROM environment) WHERE name = 'boot_id';
UPDATE environment_fact SET value = (SELECT driver_version FROM environment) WHERE name = 'driver_version';
UPDATE device SET uuid = 'GPU-' || digest(8, 'gpu', (SELECT name FROM node), number) || '-0000-4000-8000-000000000000'
WHERE place = 'gpu';
INSERT INTO fleet (id, key, name, expected)
SELECT 1, digest(32, 'fleet', fleet, expected), fleet, expected FROM node;
UPDATE run SET uuid = (SELECT uuid FROM node), fleet = 1, tag = (SELECT fleet FROM node),
  started_at_ns = started_at_ns + (SELECT later_ns FROM node),
  ended_at_ns = ended_at_ns + (SELECT later_ns FROM node);
UPDATE process SET started_at_ns = started_at_ns + (SELECT later_ns FROM node),
  ended_at_ns = ended_at_ns + (SELECT later_ns FROM node);
UPDATE check_result SET checked_at_ns = checked_at_ns + (SELECT later_ns FROM node);

-- As many processes as are asked for, each like the first.
CREATE TEMP TABLE again (i INTEGER PRIMARY KEY);
INSERT INTO again
WITH RECURSIVE c (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i + 1 < (SELECT processes FROM node))
SELECT i FROM c WHERE i < (SELECT processes FROM node);
CREATE TEMP TABLE last AS SELECT max(id) AS case_run FROM case_run;
UPDATE run SET processes = (SELECT processes FROM node);
INSERT INTO process (id, run, ordinal, pid, workers, started_at_ns, ended_at_ns)
SELECT p.id + i, run, i, pid + i, workers, started_at_ns + i * (ended_at_ns - started_at_ns),
  ended_at_ns + i * (ended_at_ns - started_at_ns)
FROM process p, again WHERE ordinal = 0;
INSERT INTO case_run (id, run, process, bench_case, status, reason, n, iterations, clock, gated, verified,
  serialised, stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv, median_cycles,
  started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
SELECT c.id + i * l.case_run, c.run, c.process + i, bench_case, status, reason, n, iterations, clock, gated,
  verified, serialised, stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv,
  median_cycles, c.started_at_ns + i * (p.ended_at_ns - p.started_at_ns),
  c.ended_at_ns + i * (p.ended_at_ns - p.started_at_ns), allocate_ns, measure_ns, verify_ns, total_ns
FROM case_run c, again, last l JOIN process p ON p.id = c.process WHERE p.ordinal = 0;
INSERT INTO trial (case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles)
SELECT t.case_run + i * l.case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles
FROM trial t, again, last l;
INSERT INTO flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
SELECT t.case_run + i * l.case_run, flow, n, median_ns, p5_ns, p95_ns FROM flow_run t, again, last l;
INSERT INTO flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns, iterations)
SELECT t.case_run + i * l.case_run, ordinal, flow, start_ns, elapsed_ns, iterations
FROM flow_trial t, again, last l;

-- A node that died leaves what it had.
UPDATE run SET status = 'running', ended_at_ns = NULL WHERE (SELECT partial FROM node);
DELETE FROM flow_trial WHERE (SELECT partial FROM node)
  AND case_run IN (SELECT c.id FROM case_run c JOIN process p ON p.id = c.process WHERE p.ordinal > 0);
DELETE FROM flow_run WHERE (SELECT partial FROM node)
  AND case_run IN (SELECT c.id FROM case_run c JOIN process p ON p.id = c.process WHERE p.ordinal > 0);
DELETE FROM trial WHERE (SELECT partial FROM node)
  AND case_run IN (SELECT c.id FROM case_run c JOIN process p ON p.id = c.process WHERE p.ordinal > 0);
DELETE FROM case_run WHERE (SELECT partial FROM node)
  AND process IN (SELECT id FROM process WHERE ordinal > 0);
DELETE FROM process WHERE (SELECT partial FROM node) AND ordinal > 0;
DELETE FROM telemetry WHERE (SELECT partial FROM node)
  AND at_ns > (SELECT max(ended_at_ns) FROM case_run);
UPDATE telemetry SET at_ns = at_ns + (SELECT later_ns FROM node);

CREATE TEMP TABLE longer (id INTEGER PRIMARY KEY, by REAL NOT NULL);
INSERT INTO longer
SELECT c.id AS id, factor(p.ordinal, b.block, b.path, b.name) AS by
FROM case_run c JOIN process p ON p.id = c.process JOIN bench_case b ON b.id = c.bench_case;
UPDATE trial SET elapsed_ns = CAST(elapsed_ns * (SELECT by FROM longer WHERE longer.id = case_run) AS INTEGER);
UPDATE case_run SET started_at_ns = started_at_ns + (SELECT later_ns FROM node),
  ended_at_ns = ended_at_ns + (SELECT later_ns FROM node);
UPDATE case_run SET (median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, median_cycles)
  = (SELECT median_ns * by, median_low_ns * by, median_high_ns * by, p5_ns * by, p95_ns * by, min_ns * by,
       max_ns * by, mean_ns * by, median_cycles * by FROM longer WHERE longer.id = case_run.id)
WHERE process IS NOT NULL;

-- A link of half the width says so.
UPDATE telemetry SET pcie_width = 8 WHERE gpu = (SELECT half_link FROM node);
UPDATE check_result SET status = 'failed', found = 'gen5 x8'
WHERE name = 'pcie_link' AND gpu = (SELECT half_link FROM node);
INSERT INTO case_note (case_run, ordinal, kind, gpu, amount, amount2, amount3, amount4)
SELECT id, 9, 'pcie_link', (SELECT half_link FROM node), 5, 8, 5, 16 FROM case_run
WHERE bench_case IN (SELECT id FROM bench_case WHERE path GLOB 'numa*-gpu' || (SELECT half_link FROM node)
  OR path GLOB 'gpu' || (SELECT half_link FROM node) || '-numa*');
