-- Copies the results of an attached database, "input", into "main".
--
-- Ids are valid in one file only. The section identify maps the ids of the input to ids of the output: rows with
-- the same key, and runs with the same UUID, are the same row. The section copy then copies the rows of all tables;
-- it takes tables, columns and references from the schema. Baselines and what was merged are not merged; the nodes
-- of a fleet are expanded anew from its list.

-- name: integrity
PRAGMA integrity_check(1);

-- name: read
-- Starts a read transaction: the reader does not see later changes of the file.
BEGIN;
SELECT count(*) FROM sqlite_master;

-- name: attach
ATTACH DATABASE :path AS input;

-- name: detach
DETACH DATABASE input;

-- name: journal_mode
PRAGMA main.journal_mode;

-- name: write_ahead
-- Many small inputs, each a transaction: with a write-ahead log they need no sync of their own, and what is killed
-- loses the last ones at most. 80 MB of it are written back at once.
PRAGMA main.journal_mode = WAL;

-- name: write_ahead_settings
PRAGMA main.synchronous = NORMAL;
PRAGMA main.wal_autocheckpoint = 20000;

-- name: write_back
PRAGMA main.journal_mode = DELETE;
PRAGMA main.synchronous = FULL;

-- name: schema
-- What its tables are made of.
SELECT group_concat(sql, ';') FROM (SELECT sql FROM input.sqlite_master WHERE type = 'table' ORDER BY name);

-- name: missing
-- A column of the output that the input lacks.
SELECT t.name AS "table", c.name AS "column"
FROM main.sqlite_master t, pragma_table_info(t.name, 'main') c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
  AND NOT EXISTS (
    SELECT 1 FROM input.sqlite_master i, pragma_table_info(i.name, 'input') d
    WHERE i.type = 'table' AND i.name = t.name AND d.name = c.name)
ORDER BY t.name, c.cid
LIMIT 1;

-- name: tables
-- The references of an input are checked before it is copied, all at once; so none is looked up row by row.
PRAGMA foreign_keys = OFF;
PRAGMA main.cache_size = -64000; -- KiB: the ends of all tables and indexes, into which an input goes
PRAGMA temp.cache_size = -16000;
-- Temporary tables: SQLite writes them to disk when they grow.
CREATE TEMP TABLE merge_id (
  name TEXT NOT NULL,       -- of the table
  input INTEGER NOT NULL,   -- id of the row there
  output INTEGER NOT NULL,  -- its id here; the next free ones for new rows
  known INTEGER NOT NULL,   -- 1: the output had it before
  PRIMARY KEY (name, input)
) WITHOUT ROWID;
CREATE TEMP TABLE merge_fleet (name TEXT PRIMARY KEY) WITHOUT ROWID; -- those that got a run or results
CREATE TEMP TABLE merge_given (name TEXT PRIMARY KEY) WITHOUT ROWID; -- those of inputs with nothing new
CREATE TEMP TABLE merge_visited (case_run INTEGER PRIMARY KEY); -- results here that have fewer visits than there
CREATE TEMP TABLE merge_later (run INTEGER PRIMARY KEY); -- known runs, of which the input's has come further

-- name: identify
DELETE FROM temp.merge_id;
DELETE FROM temp.merge_later;
DELETE FROM temp.merge_visited;

INSERT INTO temp.merge_id (name, input, output, known)
WITH same (name, input, output, last, place) AS (
  SELECT 'environment', i.id, m.id, (SELECT max(id) FROM main.environment), i.id
  FROM input.environment i LEFT JOIN main.environment m ON m.key = i.key
  UNION ALL
  SELECT 'scenario', i.id, m.id, (SELECT max(id) FROM main.scenario), i.id
  FROM input.scenario i LEFT JOIN main.scenario m ON m.key = i.key
  UNION ALL
  SELECT 'fleet', i.id, m.id, (SELECT max(id) FROM main.fleet), i.id
  FROM input.fleet i LEFT JOIN main.fleet m ON m.key = i.key
  UNION ALL
  SELECT 'bench_case', i.id, m.id, (SELECT max(id) FROM main.bench_case), i.id
  FROM input.bench_case i LEFT JOIN main.bench_case m ON m.key = i.key
  UNION ALL
  SELECT 'run', i.id, m.id,
    (SELECT max(n) FROM (SELECT max(id) AS n FROM main.run
     UNION ALL SELECT highest FROM main.deleted_number)),
    row_number() OVER (ORDER BY i.started_at_ns, i.uuid)
  FROM input.run i LEFT JOIN main.run m ON m.uuid = i.uuid)
SELECT name, input,
  ifnull(output, ifnull(last, 0)
    + row_number() OVER (PARTITION BY name, output IS NULL ORDER BY place)),
  output IS NOT NULL
FROM same;

-- Known runs that were resumed in the input since. Resuming only adds results and workers, and an end replaces
-- no end, so that the later of two states does not depend on the order of merging.
INSERT INTO temp.merge_later (run)
SELECT m.id
FROM temp.merge_id x
JOIN input.run i ON i.id = x.input
JOIN main.run m ON m.id = x.output
WHERE x.name = 'run' AND x.known = 1
  AND ((SELECT count(*) FROM input.case_run c WHERE c.run = i.id),
       (SELECT ifnull(sum(p.workers), 0) FROM input.process p WHERE p.run = i.id),
       ifnull(i.ended_at_ns, 0), i.status, ifnull(i.reason, ''), ifnull(i.tag, ''))
    > ((SELECT count(*) FROM main.case_run c WHERE c.run = m.id),
       (SELECT ifnull(sum(p.workers), 0) FROM main.process p WHERE p.run = m.id),
       ifnull(m.ended_at_ns, 0), m.status, ifnull(m.reason, ''), ifnull(m.tag, ''));

INSERT INTO temp.merge_id (name, input, output, known)
SELECT 'process', i.id,
  ifnull(m.id, (SELECT ifnull(max(id), 0) FROM main.process)
    + row_number() OVER (PARTITION BY m.id IS NULL ORDER BY i.id)),
  m.id IS NOT NULL
FROM input.process i
JOIN temp.merge_id r ON r.name = 'run' AND r.input = i.run
LEFT JOIN main.process m ON m.run = r.output AND m.ordinal = i.ordinal;

-- A result that has more visits in the input takes the place of the one that is here, with its trials.
INSERT INTO temp.merge_visited (case_run)
SELECT m.id
FROM temp.merge_id r
JOIN input.case_run i ON i.run = r.input AND i.visits > 1
JOIN temp.merge_id b ON b.name = 'bench_case' AND b.input = i.bench_case
JOIN temp.merge_id p ON p.name = 'process' AND p.input = i.process
JOIN main.case_run m ON m.run = r.output AND m.bench_case = b.output AND m.process = p.output
WHERE r.name = 'run' AND r.known = 1 AND m.started_at_ns = i.started_at_ns AND ifnull(m.visits, 1) < i.visits;
DELETE FROM main.flow_trial WHERE case_run IN (SELECT case_run FROM temp.merge_visited);
DELETE FROM main.trial WHERE case_run IN (SELECT case_run FROM temp.merge_visited);
DELETE FROM main.flow_run WHERE case_run IN (SELECT case_run FROM temp.merge_visited);
DELETE FROM main.case_note WHERE case_run IN (SELECT case_run FROM temp.merge_visited);
DELETE FROM main.case_run WHERE id IN (SELECT case_run FROM temp.merge_visited);

-- Only new results: a result was written in one transaction with its trials, so that a known one is complete.
INSERT INTO temp.merge_id (name, input, output, known)
SELECT 'case_run', i.id,
  (SELECT ifnull(max(id), 0) FROM main.case_run) + row_number() OVER (ORDER BY i.id), 0
FROM input.case_run i
JOIN temp.merge_id r ON r.name = 'run' AND r.input = i.run
JOIN temp.merge_id b ON b.name = 'bench_case' AND b.input = i.bench_case
LEFT JOIN temp.merge_id p ON p.name = 'process' AND p.input = i.process
WHERE NOT EXISTS (
  SELECT 1 FROM main.case_run m
  WHERE m.run = r.output AND m.bench_case = b.output
    AND ifnull(m.process, 0) = ifnull(p.output, 0));

-- name: conflict
-- A run that was resumed separately in two copies of a database. The input is refused then, because the
-- result would depend on the order of merging.
SELECT i.uuid, 'environment or scenario' AS what
FROM temp.merge_id x
JOIN input.run i ON i.id = x.input
JOIN input.environment ie ON ie.id = i.environment
JOIN input.scenario ins ON ins.id = i.scenario
JOIN main.run m ON m.id = x.output
JOIN main.environment e ON e.id = m.environment
JOIN main.scenario s ON s.id = m.scenario
WHERE x.name = 'run' AND x.known = 1
  AND (ie.key, ins.key, i.started_at_ns) IS NOT (e.key, s.key, m.started_at_ns)
UNION ALL
SELECT i.uuid, 'results of ' || k.name AS what
FROM temp.merge_id x
JOIN input.run i ON i.id = x.input
JOIN input.case_run c ON c.run = x.input
JOIN temp.merge_id b ON b.name = 'bench_case' AND b.input = c.bench_case
JOIN main.bench_case k ON k.id = b.output
LEFT JOIN temp.merge_id p ON p.name = 'process' AND p.input = c.process
JOIN main.case_run m ON m.run = x.output AND m.bench_case = b.output
  AND ifnull(m.process, 0) = ifnull(p.output, 0)
WHERE x.name = 'run' AND x.known = 1
  AND (m.started_at_ns IS NOT c.started_at_ns
    OR (ifnull(m.visits, 1) <= ifnull(c.visits, 1) AND (m.status, m.n, m.median_ns) IS NOT (c.status, c.n, c.median_ns)))
LIMIT 1;

-- name: types
-- Gives one SELECT per table: a column for numbers in which a row has a text or bytes. (STRICT tables would refuse them,
-- but SQLite before 3.37 cannot open those.)
SELECT printf('SELECT %Q, CASE%s END FROM input."%w" WHERE %s LIMIT 1', t.name,
  group_concat(printf(' WHEN typeof("%w") NOT BETWEEN ''integer'' AND ''real'' THEN %Q', c.name, c.name), ''), t.name,
  group_concat(printf('typeof("%w") NOT BETWEEN ''integer'' AND ''real''', c.name), ' OR '))
FROM main.sqlite_master t JOIN pragma_table_info(t.name, 'main') c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND c.type IN ('INTEGER', 'REAL') AND c.name <> 'id'
  AND (t.name, c.name) NOT IN (VALUES ('stream', 'grid'), ('bench_case', 'grid_blocks')) -- or the word "full"
GROUP BY t.name;

-- name: compare
-- Gives one SELECT per table of what is known by a key, and per table of its parts: a row for a thing that both files
-- have under one key with other content, and the column. NULL is what a file of an older schema has, and differs
-- from nothing. New rows count once they are copied: they differ where case/settings has made something else of them.
WITH
  known (name) AS (VALUES ('environment'), ('scenario'), ('fleet'), ('bench_case')),
  part (name, "column", parent) AS (
    SELECT k.name, 'id', k.name FROM known k
    UNION ALL
    SELECT t.name, c.name, f."table"
    FROM main.sqlite_master t
    JOIN pragma_table_info(t.name, 'main') c ON c.pk = 1
    JOIN pragma_foreign_key_list(t.name, 'main') f ON f."from" = c.name AND f."to" = 'id'
    WHERE t.type = 'table' AND f."table" IN (SELECT name FROM known) AND t.name <> 'fleet_node'),
  list (name, same, other, words) AS (
    SELECT p.name,
      group_concat(CASE WHEN c.pk > 1 THEN printf(' AND b."%w" IS a."%w"', c.name, c.name) END, ''),
      group_concat(CASE WHEN c.name <> p."column" THEN printf(' OR a."%w" <> b."%w"', c.name, c.name) END, ''),
      group_concat(CASE WHEN c.name <> p."column" THEN printf(' WHEN a."%w" <> b."%w" THEN %Q', c.name, c.name, c.name) END, '')
    FROM part p JOIN pragma_table_info(p.name, 'main') c GROUP BY p.name)
SELECT printf(
  'SELECT (SELECT %s FROM main."%w" WHERE id = x.output), %Q || CASE%s ELSE '' (rows)'' END '
    || 'FROM temp.merge_id x JOIN input."%w" a ON a."%w" = x.input '
    || 'LEFT JOIN main."%w" b ON b."%w" = x.output%s '
    || 'WHERE x.name = %Q AND ((x.known = 1 AND b."%w" IS NULL)%s) LIMIT 1',
  CASE p.parent WHEN 'environment' THEN 'host_name' ELSE 'name' END, p.parent, p.name || '.',
  l.words, p.name, p."column", p.name, p."column", ifnull(l.same, ''), p.parent, p."column", l.other)
FROM part p JOIN list l ON l.name = p.name
ORDER BY p.name;

-- name: has_new
-- Whether there are new rows of what is known by a key.
SELECT 1 FROM temp.merge_id WHERE known = 0 AND name IN ('bench_case', 'scenario') LIMIT 1;

-- name: false_key
-- A new row whose key is not of its content (runner/record/content.h): the length and the text of each part.
SELECT owner, part FROM (
  SELECT 'case ' || i.name AS owner, ' (its definition)' AS part, i.case_key AS key, i.definition AS content, NULL AS before
  FROM temp.merge_id x JOIN input.bench_case i ON i.id = x.input
  WHERE x.name = 'bench_case' AND x.known = 0
  UNION ALL
  SELECT 'case ' || c.name, ' (its names)', c.key, (
      SELECT group_concat(length(CAST(t.value AS BLOB)) || ':' || t.value || ',', '')
      FROM json_each(iif(c.is_fma, json_insert(c.names, '$[#]', CAST(c.operations AS TEXT)), c.names)) t), NULL
  FROM (
    -- Of multiply-adds the key has the number.
    SELECT i.name, i.key, i.operations,
      json_array(i.case_key, i.block, i.name, ifnull(i.axes, ''), ifnull(i.path, ''),
        ifnull(CASE WHEN i.host_written = 0 THEN i.host_cache
          WHEN i.host_written = 1 AND i.host_cache = 'warm' THEN 'written' END, ''), ifnull(i.device_cache, '')) AS names,
      iif(i.kind = 'compute' AND json_valid(i.definition),
        json_extract(i.definition, '$.flows[0].compute.op') IS 'fma', 0) AS is_fma
    FROM temp.merge_id x JOIN input.bench_case i ON i.id = x.input
    WHERE x.name = 'bench_case' AND x.known = 0) c
  UNION ALL
  SELECT 'scenario ' || s.name, '', s.key, (
      SELECT group_concat(length(CAST(t.value AS BLOB)) || ':' || t.value || ',', '')
      FROM json_each(json_array(s.name, s.description, s.text, s.resolved)) t), (
      SELECT group_concat(length(CAST(t.value AS BLOB)) || ':' || t.value || ',', '')
      FROM json_each(json_array(s.name, s.description, s.text, s.resolved_before)) t)
  FROM (
    -- With the text as it was before migration 1003, which left the keys.
    SELECT i.name, i.key, ifnull(i.description, '') AS description, ifnull(i.text, '') AS text,
      ifnull(i.resolved, '') AS resolved,
      replace(replace(replace(ifnull(i.resolved, ''), 'host_cache = "as_is"', 'host_cache = "warm"'),
        'host_cache = ["as_is"', 'host_cache = ["warm"'), 'host_cache = ["flushed", "as_is"', 'host_cache = ["flushed", "warm"')
        AS resolved_before
    FROM temp.merge_id x JOIN input.scenario i ON i.id = x.input
    WHERE x.name = 'scenario' AND x.known = 0) s)
WHERE key IS NOT content_key(content) AND (before IS NULL OR key IS NOT content_key(before))
LIMIT 1;

-- name: new_figures
-- Of new cases what they are compared by, and what that follows from.
SELECT i.name, i.kind, json_extract(i.definition, '$.unresolved') IS NULL AS resolved, i.payload_bytes, i.operations,
  i.figure, i.figure_amount
FROM temp.merge_id x JOIN input.bench_case i ON i.id = x.input
WHERE x.name = 'bench_case' AND x.known = 0;

-- name: false_case
-- A new case of which a column, or a row of its kind, is not what its definition says.
WITH
  c AS (
    SELECT i.*, iif(json_valid(i.definition), i.definition, '{}') AS d
    FROM temp.merge_id x JOIN input.bench_case i ON i.id = x.input
    WHERE x.name = 'bench_case' AND x.known = 0),
  w AS (SELECT * FROM c WHERE json_extract(d, '$.unresolved') IS NULL),
  said AS (
    SELECT w.id, w.name, w.kind IS NOT json_extract(d, '$.kind') AS kind,
      w.payload_bytes IS NOT CASE w.kind
        WHEN 'stream' THEN json_extract(d, '$.stream.size_bytes') * json_extract(d, '$.stream.passes')
          * ifnull(json_extract(d, '$.stream.grid') / nullif(json_extract(d, '$.stream.parts'), 0), 1)
          * CASE WHEN json_extract(d, '$.stream.op') IN ('read', 'write') THEN 1
                 WHEN json_extract(d, '$.stream.op') IN ('add', 'triad') THEN 3 ELSE 2 END
        WHEN 'transfer' THEN
          (SELECT ifnull(sum(json_extract(f.value, '$.size_bytes') * ifnull(json_extract(f.value, '$.copies'), 1)), 0)
           FROM json_each(d, '$.flows') f WHERE json_extract(f.value, '$.role') = 'measured')
        WHEN 'chase' THEN 0 WHEN 'arithmetic' THEN 0 WHEN 'overhead' THEN 0 WHEN 'signal' THEN 0
        ELSE w.payload_bytes -- of compute it follows from the shape of the GPU, as operations do
      END AS payload,
      w.operations IS NOT CASE w.kind
        WHEN 'chase' THEN json_extract(d, '$.chase.hops')
        WHEN 'arithmetic' THEN json_extract(d, '$.arithmetic.instructions')
        WHEN 'signal' THEN json_extract(d, '$.flows[0].rounds') * CASE json_extract(d, '$.flows[0].op')
          WHEN 'atomics' THEN json_extract(d, '$.flows[0].kernel.grid') * json_extract(d, '$.flows[0].kernel.block') ELSE 1 END
        -- engine/case/compute.h
        WHEN 'compute' THEN CASE json_extract(d, '$.flows[0].compute.op')
          WHEN 'triad' THEN json_extract(d, '$.flows[0].size_bytes') / 32 * 8 * json_extract(d, '$.flows[0].compute.intensity')
          WHEN 'matmul' THEN (
            WITH RECURSIVE matrix (side) AS (VALUES (0) UNION ALL SELECT side + 256 FROM matrix WHERE side < 16384)
            SELECT 2 * max(side) * max(side) * max(side) FROM matrix
            WHERE 4 * side * side <= json_extract(d, '$.flows[0].size_bytes'))
          -- fma: a block on each SM that it may have, of a GPU of a run that planned it
          ELSE (
            SELECT w.operations
            FROM (SELECT run FROM input.plan_case WHERE bench_case = w.id
              UNION ALL SELECT run FROM input.plan_alias WHERE bench_case = w.id) p
            JOIN input.run r ON r.id = p.run
            JOIN input.device g ON g.environment = r.environment AND g.place = 'gpu'
              AND g.number = json_extract(d, '$.flows[0].source.index')
            WHERE w.operations = 33554432
              * max((g.sm_count * json_extract(d, '$.flows[0].compute.sm_percent') + 50) / 100, 1)
            LIMIT 1) END
        WHEN 'transfer' THEN 0 WHEN 'stream' THEN 0 WHEN 'overhead' THEN 0 ELSE w.operations END AS operations,
      (SELECT count(*) FROM input.flow f WHERE f.bench_case = w.id) IS NOT ifnull(json_array_length(d, '$.flows'), 0)
        OR EXISTS (
          SELECT 1 FROM input.flow f LEFT JOIN json_each(d, '$.flows') j ON j.key = f.ordinal
          WHERE f.bench_case = w.id
            AND (f.size_bytes, f.role, f.method, f.source_place, f.source_index, f.source_memory,
                 f.target_place, f.target_index, f.target_memory, f.initiator, f.staged, f.copies,
                 f.source_process, f.source_share, f.target_process, f.target_share) IS NOT
                (json_extract(j.value, '$.size_bytes'), json_extract(j.value, '$.role'),
                 json_extract(j.value, '$.method'), json_extract(j.value, '$.source.place'),
                 json_extract(j.value, '$.source.index'), json_extract(j.value, '$.source.memory'),
                 json_extract(j.value, '$.target.place'), json_extract(j.value, '$.target.index'),
                 json_extract(j.value, '$.target.memory'), json_extract(j.value, '$.initiator'),
                 json_extract(j.value, '$.staged'), json_extract(j.value, '$.copies'),
                 json_extract(j.value, '$.source.process'), json_extract(j.value, '$.source.share'),
                 json_extract(j.value, '$.target.process'), json_extract(j.value, '$.target.share'))) AS flows,
      EXISTS (SELECT 1 FROM input.stream s WHERE s.bench_case = w.id
              AND (s.op, s.size_bytes, s.passes) IS NOT (json_extract(d, '$.stream.op'),
                json_extract(d, '$.stream.size_bytes'), json_extract(d, '$.stream.passes')))
        OR EXISTS (SELECT 1 FROM input.chase s WHERE s.bench_case = w.id
              AND (s.footprint_bytes, s.hops, s.gpu) IS NOT (json_extract(d, '$.chase.footprint_bytes'),
                json_extract(d, '$.chase.hops'), coalesce(json_extract(d, '$.chase.gpu'), -1)))
        OR EXISTS (SELECT 1 FROM input.arithmetic s WHERE s.bench_case = w.id
              AND (s.op, s.instructions, s.gpu) IS NOT (json_extract(d, '$.arithmetic.op'),
                json_extract(d, '$.arithmetic.instructions'), json_extract(d, '$.arithmetic.gpu')))
        OR EXISTS (SELECT 1 FROM input.overhead s WHERE s.bench_case = w.id
              AND s.operation IS NOT json_extract(d, '$.overhead.operation')) AS work
    FROM w)
SELECT name, CASE WHEN kind THEN 'kind' WHEN payload THEN 'payload_bytes' WHEN operations THEN 'operations'
  WHEN flows THEN 'flow' ELSE 'work' END
FROM said WHERE kind OR payload OR operations OR flows OR work LIMIT 1;

-- name: copy
-- Gives one INSERT per table, parents before tables that refer to them. Of a table with an id it copies the new
-- rows, with their new ids. Of any other table it copies the rows that belong, by the first column of their key,
-- to a row in merge_id; rows that the output has already are skipped. References to ids are mapped. merge_id
-- drives each INSERT, so that rows are read and written in the order of the files.
WITH RECURSIVE
  copied (name) AS (
    SELECT name FROM main.sqlite_master
    WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
      AND name NOT IN ('baseline', 'fleet_node', 'merged_input', 'schema_text')),
  reference (name, "column", parent, is_id) AS (
    SELECT t.name, f."from", f."table", f."to" = 'id'
    FROM copied t, pragma_foreign_key_list(t.name, 'main') f),
  depth (name, depth) AS (
    SELECT name, 0 FROM copied
    UNION SELECT r.name, d.depth + 1 FROM depth d JOIN reference r ON r.parent = d.name),
  -- The column by which rows are found, and the table of its ids.
  driver (name, "column", parent) AS (
    SELECT t.name, c.name, CASE c.name WHEN 'id' THEN t.name ELSE r.parent END
    FROM copied t
    JOIN pragma_table_info(t.name, 'main') c ON c.pk = 1
    LEFT JOIN reference r ON r.name = t.name AND r."column" = c.name AND r.is_id),
  value (name, "column", value) AS (
    SELECT t.name, c.name,
      CASE
        WHEN c.name = d."column" THEN 'x.output'
        WHEN r.parent IS NULL THEN printf('t."%w"', c.name)
        ELSE printf(
          '(SELECT output FROM temp.merge_id WHERE name = %Q AND input = t."%w")', r.parent, c.name)
      END
    FROM copied t
    JOIN driver d ON d.name = t.name
    JOIN pragma_table_info(t.name, 'main') c
    LEFT JOIN reference r ON r.name = t.name AND r."column" = c.name AND r.is_id),
  list (name, columns, "values") AS (
    SELECT name, group_concat(printf('"%w"', "column"), ', '), group_concat(value, ', ')
    FROM value GROUP BY name)
SELECT printf(
  'INSERT INTO main."%w" (%s) SELECT %s FROM temp.merge_id x CROSS JOIN input."%w" t ON t."%w" = x.input '
    || 'WHERE x.name = %Q %s',
  d.name, l.columns, l."values", d.name, d."column", d.parent,
  CASE d.parent WHEN d.name THEN 'AND x.known = 0' ELSE 'ON CONFLICT DO NOTHING' END)
FROM driver d JOIN list l ON l.name = d.name
ORDER BY (SELECT max(depth) FROM depth WHERE name = d.name), d.name;

-- name: complete
-- Updates the runs and processes that were resumed.
UPDATE main.run SET (status, reason, ended_at_ns, tag) = (
  SELECT i.status, i.reason, i.ended_at_ns, i.tag
  FROM temp.merge_id x JOIN input.run i ON i.id = x.input
  WHERE x.name = 'run' AND x.output = main.run.id)
WHERE id IN (SELECT run FROM temp.merge_later);

UPDATE main.process SET (pid, workers, ended_at_ns) = (
  SELECT i.pid, i.workers, i.ended_at_ns
  FROM temp.merge_id x JOIN input.process i ON i.id = x.input
  WHERE x.name = 'process' AND x.output = main.process.id)
WHERE id IN (
  SELECT m.id
  FROM temp.merge_id x
  JOIN input.process i ON i.id = x.input
  JOIN main.process m ON m.id = x.output
  WHERE x.name = 'process' AND x.known = 1
    AND (i.workers, ifnull(i.ended_at_ns, 0)) > (m.workers, ifnull(m.ended_at_ns, 0)));

INSERT OR IGNORE INTO temp.merge_fleet (name)
SELECT f.name
FROM temp.merge_id x
JOIN main.run r ON r.id = x.output
JOIN main.fleet f ON f.id = r.fleet
WHERE x.name = 'run' AND (x.known = 0 OR r.id IN (SELECT run FROM temp.merge_later));

-- name: result
SELECT count(*) AS runs, ifnull(sum(known = 0), 0) AS added,
  ifnull(sum(known = 1 AND (later OR results > 0)), 0) AS completed, ifnull(sum(results), 0) AS results
FROM (
  SELECT x.known, x.output IN (SELECT run FROM temp.merge_later) AS later,
    (SELECT count(*) FROM temp.merge_id c JOIN input.case_run i ON i.id = c.input
     WHERE c.name = 'case_run' AND i.run = x.input) AS results
  FROM temp.merge_id x WHERE x.name = 'run');

-- name: new_fleets
SELECT f.id AS id, f.expected AS expected
FROM temp.merge_id x JOIN main.fleet f ON f.id = x.output
WHERE x.name = 'fleet' AND x.known = 0 AND f.expected IS NOT NULL;

-- name: add_fleet_node
INSERT OR IGNORE INTO main.fleet_node (fleet, node) VALUES (:fleet, :node);

-- name: known_input
SELECT reason, runs FROM main.merged_input WHERE path = :path AND version = :version;

-- name: given_fleet
-- The fleet of a shard that was merged before.
INSERT OR IGNORE INTO temp.merge_given (name)
SELECT f.name FROM main.run r JOIN main.fleet f ON f.id = r.fleet WHERE r.uuid = :run_uuid;

-- name: remember_input
INSERT OR REPLACE INTO main.merged_input (path, version, node, run_uuid, runs, reason)
VALUES (:path, nullif(:version, ''), nullif(:node, ''), nullif(:run_uuid, ''), :runs, :reason);

-- name: fleets
-- Those that changed, or else those whose shards were given, or else the one that was started last.
SELECT name AS word FROM temp.merge_fleet
UNION ALL
SELECT name FROM temp.merge_given WHERE NOT EXISTS (SELECT 1 FROM temp.merge_fleet)
UNION ALL
SELECT name FROM (
  SELECT f.name FROM main.run r JOIN main.fleet f ON f.id = r.fleet ORDER BY r.started_at_ns DESC LIMIT 1)
WHERE NOT EXISTS (SELECT 1 FROM temp.merge_fleet) AND NOT EXISTS (SELECT 1 FROM temp.merge_given);
