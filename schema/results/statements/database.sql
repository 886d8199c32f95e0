-- Set-up and transactions of every connection; versions and migrations.

-- name: set_up
-- synchronous = FULL: with NORMAL and a rollback journal, a power cut can damage the file. FULL costs
-- milliseconds per case, outside the measurement.
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA synchronous = FULL;
PRAGMA cell_size_check = ON; -- a damaged page is noticed where it is read
PRAGMA mmap_size = 0;
PRAGMA cache_size = -16000; -- KiB: a case with 10^5 trials does not spill

-- name: query_only
PRAGMA query_only = ON;

-- name: begin
BEGIN IMMEDIATE;

-- name: begin_reading
BEGIN;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: version
SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_master) AS objects
FROM pragma_application_id a, pragma_user_version v;

-- name: table_names
SELECT name AS word FROM sqlite_master
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name;

-- name: column_names
-- Of the tables and views that a statement names.
SELECT DISTINCT c.name AS word FROM sqlite_master t JOIN pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view') AND instr(lower(:sql), lower(t.name)) > 0 ORDER BY c.name;

-- name: tables_with
-- The tables and views that a statement names and that have the column.
SELECT t.name AS word FROM sqlite_master t JOIN pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view') AND instr(lower(:sql), lower(t.name)) > 0 AND lower(c.name) = lower(:column)
ORDER BY t.name;

-- name: view_with
-- The view to look into for a column that :view lacks, first of those that people ask most, and how to join it: with
-- nothing but that column, so that no other becomes ambiguous or multiplies rows.
SELECT name || ' has it'
  || ifnull(': JOIN (SELECT DISTINCT ' || shared || ', ' || found || ' FROM ' || name || ') USING (' || shared || ')', '')
FROM (
  SELECT w.name AS name, w.found AS found, CASE
      WHEN w.keys GLOB '*,case_run,*' THEN 'run, case_run'
      WHEN w.keys GLOB '*,bench_case,*' THEN 'run, bench_case'
      WHEN w.keys GLOB '*,case_name,*' THEN 'run, case_name'
      WHEN w.keys <> '' THEN 'run' END AS shared
  FROM (
    SELECT t.name AS name, c.name AS found, (
        SELECT ',' || group_concat(p.name) || ',' FROM pragma_table_info(t.name) p
        WHERE p.name IN ('run', 'case_run', 'bench_case', 'case_name')
          AND p.name IN (SELECT q.name FROM pragma_table_info(:view) q)
          AND 'run' IN (SELECT q.name FROM pragma_table_info(:view) q)) AS keys
    FROM sqlite_master t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'view' AND t.name GLOB 'v_*' AND t.name <> :view AND lower(c.name) = lower(:column)
    ORDER BY ifnull(nullif(instr('v_result v_run_case v_case v_run v_gpu v_trial ', t.name || ' '), 0), 99), t.name
    LIMIT 1) w);

-- name: fact
SELECT name FROM environment_fact WHERE name = lower(:column) AND :view = '' LIMIT 1;

-- name: virtual_table
SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage = 0 LIMIT 1;

-- name: has_schema_text
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_text';

-- name: schema_text
SELECT migrations, views FROM schema_text WHERE version = :version;

-- name: insert_schema_text
INSERT INTO schema_text (version, migrations, views) VALUES (:version, :migrations, :views);

-- name: migration_start
-- A migration may rebuild tables; references are checked at its end. No effect inside a transaction.
PRAGMA foreign_keys = OFF;

-- name: migration_end
PRAGMA foreign_keys = ON;

-- name: drop_views
-- Gives the statements that drop haul's views; views of users have other names.
SELECT printf('DROP VIEW "%w"', name) FROM sqlite_master WHERE type = 'view' AND name GLOB 'v_*';

-- name: settings
-- Gives the statements that put settings which migrations added (case/settings) into the views that say where: as columns of
-- their b, or their c.
SELECT printf('DROP VIEW "%w"', v.name) || ';' || replace(replace(v.sql, '/* settings of b */', s.b), '/* settings of c */', s.c)
FROM sqlite_master v, (
  SELECT group_concat(printf(', b."%w" AS "%w"', c.name, c.name), '') AS b,
    group_concat(printf(', c."%w" AS "%w"', c.name, c.name), '') AS c
  FROM pragma_table_info('bench_case') c
  WHERE c.cid > (SELECT cid FROM pragma_table_info('bench_case') WHERE name = 'handles')) s
WHERE v.type = 'view' AND v.sql GLOB '*/[*] settings of *';

-- name: broken_references
SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1;
