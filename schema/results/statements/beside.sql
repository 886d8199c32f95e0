-- A run beside its database (runner/record/beside.h): "input" is that database, "main" the new one, of the same schema.

-- name: begin
-- Not IMMEDIATE, which would write to the other one, too.
BEGIN;
CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY);

-- name: choose
INSERT INTO temp.chosen (id) VALUES (:run);

-- name: copy
-- Gives one INSERT per table, parents before tables that refer to them: the rows of the chosen run and of all that it
-- refers to, under their numbers.
WITH RECURSIVE
  owner (name, "column", parent) AS (
    SELECT t.name, c.name, f."table"
    FROM main.sqlite_master t
    JOIN pragma_table_info(t.name, 'main') c ON c.pk = 1
    JOIN pragma_foreign_key_list(t.name, 'main') f ON f."from" = c.name AND f."to" = 'id'
    WHERE t.type = 'table' AND t.name NOT IN ('baseline', 'fleet_node', 'merged_input')),
  rows (place, name, condition) AS (
    VALUES (0, 'environment', 'id IN (SELECT environment FROM input.run WHERE id IN (SELECT id FROM temp.chosen))'),
      (1, 'scenario', 'id IN (SELECT scenario FROM input.run WHERE id IN (SELECT id FROM temp.chosen))'),
      (2, 'fleet', 'id IN (SELECT fleet FROM input.run WHERE id IN (SELECT id FROM temp.chosen))'),
      (3, 'bench_case', 'id IN (SELECT bench_case FROM input.plan_case WHERE run IN (SELECT id FROM temp.chosen) '
        || 'UNION SELECT bench_case FROM input.plan_alias WHERE run IN (SELECT id FROM temp.chosen))'),
      (4, 'run', 'id IN (SELECT id FROM temp.chosen)'),
      (5, 'process', 'run IN (SELECT id FROM temp.chosen)'),
      (6, 'case_run', 'run IN (SELECT id FROM temp.chosen)')
    UNION ALL
    SELECT 7 + (o.name = 'link'), o.name, printf('"%w" IN (SELECT id FROM main."%w")', o."column", o.parent) FROM owner o)
SELECT printf('INSERT INTO main."%w" SELECT * FROM input."%w" WHERE %s', name, name, condition) FROM rows ORDER BY place, name;

-- name: end
DROP TABLE temp.chosen;

-- name: running
SELECT 1 FROM run WHERE status = 'running' LIMIT 1;
