-- What the rules of haul explain read (rules_host.sql, rules_gpu.sql, rules_run.sql), as temporary tables of the
-- connection: begin, choose and collect fill them, once for all rules. docs/EXPLAIN.md describes them.

-- name: begin
-- Temporary tables alone are written; a copy of an older file is read with query_only on.
PRAGMA query_only = 0;
-- busy_percent: utilization from which on somebody works on a GPU (engine/machine).
CREATE TEMP TABLE explained (run INTEGER, environment INTEGER NOT NULL, busy_percent INTEGER NOT NULL);
-- Cases of the run below the expected range (runner/expect). lack: the share that is missing.
CREATE TEMP TABLE shortfall (case_key TEXT PRIMARY KEY, lack REAL NOT NULL);

-- name: choose
-- Without a run: the machine that was recorded last.
INSERT INTO explained
SELECT :run, coalesce((SELECT environment FROM run WHERE id = :run), (SELECT max(id) FROM environment)),
  :busy_percent;

-- name: add_shortfall
INSERT OR REPLACE INTO shortfall VALUES (:case_key, :lack);

-- name: choose_steps
-- The run is bound: SQLite looks for steps in that run alone only where it knows it beforehand.
CREATE TEMP TABLE stepped AS SELECT * FROM v_step WHERE run = :run;

-- name: collect
-- One row; facts: those that are known, as JSON.
CREATE TEMP TABLE host AS
SELECT x.run AS run, e.id AS environment, e.gpu_count AS gpu_count, e.node_count AS node_count,
  (SELECT json_group_object(f.name, f.value) FROM environment_fact f
   WHERE f.environment = e.id AND f.gpu = -1 AND f.state = 'ok') AS facts
FROM explained x
JOIN environment e ON e.id = x.environment;

-- One row per GPU, its facts, and what telemetry saw of it in the run. Samples: NULL without a run.
CREATE TEMP TABLE gpu AS
SELECT d.number AS gpu, d.name AS name, d.numa_node AS numa_node, d.memory_bytes AS memory_bytes,
  nullif(d.pcie_generation_max, 0) AS pcie_generation_max,
  nullif(d.pcie_width_max, 0) AS pcie_width_max,
  d.nvlink_count AS nvlink_count, d.c2c_bytes_per_second AS c2c_bytes_per_second,
  (SELECT json_group_object(f.name, f.value) FROM environment_fact f
   WHERE f.environment = h.environment AND f.gpu = d.number AND f.state = 'ok') AS facts,
  t.samples AS samples, t.pcie_generation AS pcie_generation, t.pcie_width AS pcie_width,
  t.other_processes AS other_processes
FROM host h
JOIN device d ON d.environment = h.environment AND d.place = 'gpu'
LEFT JOIN (
  SELECT gpu, count(*) AS samples, max(pcie_generation) AS pcie_generation,
    max(pcie_width) AS pcie_width, max(other_processes) AS other_processes
  FROM telemetry WHERE run = (SELECT run FROM explained) GROUP BY gpu) t ON t.gpu = d.number;

-- Every measured flow of the run's cases; nvlink_count and peer_access of the pair where both ends are GPUs.
CREATE TEMP TABLE flows AS
SELECT f.*, l.nvlink_count AS nvlink_count, l.peer_access AS peer_access
FROM host h
JOIN plan_case p ON p.run = h.run
JOIN flow f ON f.bench_case = p.bench_case
LEFT JOIN link l ON l.environment = h.environment AND l.place = 'gpu' AND f.source_place = 'gpu'
  AND f.target_place = 'gpu' AND l.source = f.source_index AND l.target = f.target_index;

-- Batches of copies from the host: how long each takes at least and at most.
CREATE TEMP TABLE batches AS
SELECT f.bench_case, f.source_index, f.target_index, f.size_bytes, f.piece_bytes,
  min(coalesce(c.median_low_ns, c.min_ns, c.median_ns)) AS low_ns,
  max(coalesce(c.median_high_ns, c.max_ns, c.median_ns)) AS high_ns
FROM flows f
JOIN case_run c ON c.bench_case = f.bench_case AND c.run = (SELECT run FROM explained) AND c.status = 'ok'
WHERE f.submit = 'batch' AND f.source_place = 'numa' AND f.target_place = 'gpu'
GROUP BY f.bench_case;

-- Counters of errors that rose during a case.
CREATE TEMP TABLE counted AS
SELECT v.gpu AS gpu, v.bench_case AS bench_case, v.what AS what, v.amount AS amount,
  CASE WHEN v.what LIKE 'Xid %' THEN 'xid' WHEN v.what LIKE '%ECC%' OR v.what LIKE '%rows%' THEN 'memory_errors'
    ELSE 'link_errors' END AS class
FROM v_note v WHERE v.run = (SELECT run FROM explained) AND v.kind = 'link_errors';

-- What a case depends on: a class of resources, and of which GPU; NULL: of none.
CREATE TEMP TABLE touched AS
SELECT 'host_link' AS class, CASE source_place WHEN 'gpu' THEN source_index ELSE target_index END AS gpu,
  bench_case
FROM flows WHERE source_place <> target_place
UNION SELECT 'numa' || CASE source_place WHEN 'gpu' THEN target_index ELSE source_index END,
  CASE source_place WHEN 'gpu' THEN source_index ELSE target_index END, bench_case
FROM flows WHERE source_place <> target_place
UNION SELECT 'peer', g.gpu, f.bench_case
FROM flows f JOIN gpu g ON g.gpu IN (f.source_index, f.target_index)
WHERE f.source_place = 'gpu' AND f.target_place = 'gpu' AND f.source_index <> f.target_index AND NOT f.staged
UNION SELECT 'peer_pcie', g.gpu, f.bench_case
FROM flows f JOIN gpu g ON g.gpu IN (f.source_index, f.target_index)
WHERE f.source_place = 'gpu' AND f.target_place = 'gpu' AND f.source_index <> f.target_index
  AND (f.staged OR f.nvlink_count = 0)
UNION SELECT 'gpu_memory', source_index, bench_case
FROM flows WHERE source_place = 'gpu' AND target_place = 'gpu' AND source_index = target_index
UNION SELECT 'gpu_clock', gpu, bench_case FROM flows WHERE method = 'sm'
UNION SELECT 'managed', gpu, bench_case FROM flows WHERE method = 'um'
-- A kernel that computes, and copies by kernels of the same GPU, of which one loads the other; copies within it too.
UNION SELECT 'beside_kernel', k.gpu, k.bench_case
FROM flows k JOIN flows f ON f.bench_case = k.bench_case AND f.gpu = k.gpu AND f.role <> k.role
WHERE k.method = 'compute' AND (f.method = 'sm' OR (f.method = 'ce' AND f.source_index = f.target_index
  AND f.source_place = f.target_place))
UNION SELECT 'pageable', gpu, bench_case FROM flows WHERE 'pageable' IN (source_memory, target_memory)
UNION SELECT 'host_memory', NULL, bench_case FROM flows WHERE source_place = 'numa' AND target_place = 'numa'
UNION SELECT 'host_memory', NULL, s.bench_case
FROM stream s JOIN plan_case p ON p.bench_case = s.bench_case AND p.run = (SELECT run FROM explained)
WHERE s.memory_place = 'numa'
UNION SELECT k.class, s.gpu, s.bench_case
FROM stream s JOIN plan_case p ON p.bench_case = s.bench_case AND p.run = (SELECT run FROM explained)
JOIN (SELECT 'gpu_memory' AS class UNION ALL SELECT 'gpu_clock') k
WHERE s.gpu IS NOT NULL
UNION SELECT 'gpu_clock', a.gpu, a.bench_case
FROM arithmetic a JOIN plan_case p ON p.bench_case = a.bench_case AND p.run = (SELECT run FROM explained)
UNION SELECT 'host_call', o.gpu, o.bench_case
FROM overhead o JOIN plan_case p ON p.bench_case = o.bench_case AND p.run = (SELECT run FROM explained)
UNION SELECT CASE c.space WHEN 'host' THEN 'host_link' WHEN 'peer' THEN 'peer' WHEN 'global' THEN 'gpu_memory'
  ELSE 'gpu_clock' END, c.gpu, c.bench_case
FROM chase c JOIN plan_case p ON p.bench_case = c.bench_case AND p.run = (SELECT run FROM explained)
WHERE c.node IS NULL
UNION SELECT 'numa' || c.memory_index, nullif(c.gpu, -1), c.bench_case
FROM chase c JOIN plan_case p ON p.bench_case = c.bench_case AND p.run = (SELECT run FROM explained)
WHERE c.space = 'host'
UNION SELECT 'at_once', NULL, bench_case
FROM flows WHERE role = 'measured' AND source_place <> target_place GROUP BY bench_case HAVING count(*) > 1
UNION SELECT 'small_copy', NULL, bench_case
FROM flows WHERE method = 'ce' GROUP BY bench_case HAVING max(size_bytes) < 32768
-- Where the rate rises by half more than the pieces grow, whatever the intervals leave open.
UNION SELECT 'small_batch', NULL, s.bench_case
FROM batches s
JOIN batches a ON a.source_index = s.source_index AND a.target_index = s.target_index AND a.piece_bytes < 32768
JOIN batches b ON b.source_index = s.source_index AND b.target_index = s.target_index AND b.piece_bytes >= 32768
  AND b.size_bytes = a.size_bytes
WHERE s.piece_bytes < 32768 AND a.low_ns > 1.5 * b.high_ns * b.piece_bytes / a.piece_bytes
UNION SELECT 'pageable_ungated', NULL, c.bench_case
FROM case_run c JOIN flows f ON f.bench_case = c.bench_case
WHERE c.run = (SELECT run FROM explained) AND c.gated = 0 AND f.method = 'ce'
  AND 'pageable' IN (f.source_memory, f.target_memory)
UNION SELECT 'serialised', NULL, bench_case
FROM case_run WHERE run = (SELECT run FROM explained) AND serialised
UNION SELECT class, gpu, bench_case FROM counted
UNION SELECT 'rate_step', NULL, bench_case FROM stepped
-- What the run itself noticed beside a case, by GPU.
UNION SELECT CASE v.kind WHEN 'throttled' THEN 'throttled_' || v.what ELSE 'shared' END, v.gpu, v.bench_case
FROM case_run c JOIN v_note v ON v.case_run = c.id
WHERE c.run = (SELECT run FROM explained) AND v.gpu IN (SELECT gpu FROM gpu)
  AND (v.kind IN ('in_use', 'in_use_unmeasured', 'in_use_hidden', 'shared', 'shared_unnamed')
       OR v.kind = 'throttled' AND v.what IN (SELECT name FROM v_throttle WHERE slows));

-- The same by GPU and class.
CREATE TEMP TABLE rose AS
SELECT gpu, class, group_concat(text, '; ') AS text
FROM (SELECT gpu, class, what || ' rose by ' || CAST(sum(amount) AS INTEGER) || ' during ' || count(*)
        || CASE count(*) WHEN 1 THEN ' case' ELSE ' cases' END AS text
      FROM counted GROUP BY gpu, class, what)
GROUP BY gpu, class;

-- Of a run one row: what NVML does not give on its GPUs.
CREATE TEMP TABLE counters AS
SELECT coalesce(' (' || (SELECT group_concat(DISTINCT f.value) FROM environment_fact f
                         WHERE f.environment = h.environment AND f.name = 'error_counters' AND f.value <> 'all')
                || ')', '') AS missing
FROM host h WHERE h.run IS NOT NULL;

CREATE INDEX temp.touched_by_gpu ON touched (gpu, class);
CREATE INDEX temp.touched_by_class ON touched (class);

-- Of each GPU that was sampled and each reason for clocks that are lower than they could be: how many samples had
-- it, and whether it slowed a case.
CREATE TEMP TABLE throttling AS
SELECT s.gpu AS gpu, s.name AS name, s.throttled AS throttled, s.class AS class,
  EXISTS (SELECT 1 FROM touched k WHERE k.gpu = s.gpu AND k.class = s.class) AS slowed,
  s.name || ' in ' || s.throttled || ' of ' || s.samples || ' samples' AS evidence
FROM (SELECT t.gpu AS gpu, w.name AS name, 'throttled_' || w.name AS class,
        count(t.throttle_reasons) AS samples, sum((t.throttle_reasons & w.bit) <> 0) AS throttled
      FROM telemetry t JOIN v_throttle w ON w.slows
      WHERE t.run = (SELECT run FROM explained)
      GROUP BY t.gpu, w.name) s
WHERE s.samples > 0;

-- Each result, and the best of those that differ from it in their place alone. speed: payload (or one pass) per ns.
CREATE TEMP TABLE result AS
SELECT c.bench_case AS bench_case, b.block AS block, b.axes AS axes, b.name AS name,
  nullif(b.payload_bytes, 0) / c.ns AS gbps, c.ns AS ns, max(b.payload_bytes, 1) / c.ns AS speed,
  max(max(b.payload_bytes, 1) / c.ns) OVER same AS best, count(*) OVER same AS places
FROM (SELECT bench_case, avg(median_ns) AS ns FROM case_run
      WHERE run = (SELECT run FROM explained) AND status = 'ok' AND median_ns IS NOT NULL
      GROUP BY bench_case) c
JOIN bench_case b ON b.id = c.bench_case
WINDOW same AS (PARTITION BY b.block, b.axes);

-- Copies between the host and several GPUs at once, in one direction, beside the same copies one by one. way: how the
-- GPUs of a case reach the host, as far as it is known. uplink: of a slow case, what says that some of them share an
-- uplink: one bridge below the root (which a virtual machine does not see), or that as many others are not slow.
CREATE TEMP TABLE at_once AS
WITH
  one_way AS (
    SELECT bench_case, count(*) AS n, min(CASE source_place WHEN 'gpu' THEN target_index ELSE source_index END) AS node
    FROM flows
    WHERE bench_case NOT IN (SELECT v.bench_case FROM case_run c JOIN v_note v ON v.case_run = c.id
                             WHERE c.run = (SELECT run FROM explained) AND v.slows)
    GROUP BY bench_case
    HAVING count(*) = sum(role = 'measured' AND method = 'ce')
      AND min(source_place) = max(source_place) AND min(target_place) = max(target_place)
      AND min(source_place) <> min(target_place)
      AND count(DISTINCT CASE source_place WHEN 'gpu' THEN source_index ELSE target_index END) = count(*)),
  alone AS (
    SELECT f.source_place, f.source_index, f.source_memory, f.target_place, f.target_index, f.target_memory,
      f.size_bytes, max(r.gbps) AS gbps
    FROM one_way o
    JOIN flows f ON f.bench_case = o.bench_case
    JOIN result r ON r.bench_case = o.bench_case
    WHERE o.n = 1
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
  together AS (
    -- The window ends with the slowest: without sharing, when it ends that is slowest alone.
    SELECT o.bench_case, o.node, r.block, r.axes, r.name, r.gbps, o.n,
      sum(f.size_bytes) / max(f.size_bytes / a.gbps) AS free_gbps
    FROM one_way o
    JOIN flows f ON f.bench_case = o.bench_case
    JOIN result r ON r.bench_case = o.bench_case
    LEFT JOIN alone a USING (source_place, source_index, source_memory, target_place, target_index, target_memory,
                             size_bytes)
    WHERE o.n > 1 AND f.size_bytes >= 1048576
    GROUP BY o.bench_case HAVING count(a.gbps) = o.n),
  bridge AS (
    SELECT f.bench_case, g.gpu,
      CASE WHEN json_extract(g.facts, '$.pcie_path') LIKE '____:%'
        THEN substr(json_extract(g.facts, '$.pcie_path'), 1, 12) END AS address
    FROM flows f
    JOIN gpu g ON g.gpu = CASE f.source_place WHEN 'gpu' THEN f.source_index ELSE f.target_index END
    JOIN host h ON coalesce(json_extract(h.facts, '$.hypervisor'), 'none') = 'none'
    WHERE json_extract(g.facts, '$.pcie_path') IS NOT NULL),
  judged AS (
    SELECT t.*, t.gbps < 0.75 * t.free_gbps AS slow,
      (SELECT count(*) FROM bridge b WHERE b.bench_case = t.bench_case) = t.n AS seen,
      (SELECT group_concat(gpus, ' and ') FROM (
        SELECT group_concat('gpu' || gpu, ' ') AS gpus FROM bridge b
        WHERE b.bench_case = t.bench_case AND address IS NOT NULL GROUP BY address HAVING count(*) > 1)) AS sharing
    FROM together t)
SELECT j.name, j.slow,
  j.name || ': ' || round(j.gbps, 1) || ' GB/s at once, ' || round(j.free_gbps, 1) || ' as fast as each is alone'
    AS evidence,
  CASE WHEN j.sharing IS NOT NULL THEN 'below one root port: ' || j.sharing
    WHEN j.seen THEN 'each is below a root port of its own'
    WHEN json_extract(h.facts, '$.hypervisor') <> 'none' THEN 'a virtual machine does not see the uplinks'
    ELSE 'pcie_path is not known of all' END AS way,
  CASE WHEN j.slow THEN coalesce('below one root port: ' || j.sharing, (
    SELECT 'not so ' || o.name || ': ' || round(o.gbps, 1) || ' of ' || round(o.free_gbps, 1) || ' GB/s'
    FROM judged o
    WHERE o.block = j.block AND o.axes IS j.axes AND o.n = j.n AND o.node = j.node AND NOT o.slow
    ORDER BY o.gbps DESC LIMIT 1)) END AS uplink
FROM judged j JOIN host h;

-- name: machine
-- What is explained: one row; the last two columns: cases that went wrong, and one of them. :only is a JSON array
-- of globs, NULL: every case.
WITH wrong AS (
  SELECT b.name AS name, c.status AS status, c.reason AS reason
  FROM case_run c JOIN explained x ON x.run = c.run JOIN bench_case b ON b.id = c.bench_case
  WHERE c.status NOT IN ('ok', 'skipped') AND (:only IS NULL OR EXISTS (
    SELECT 1 FROM json_each(:only) g
    WHERE b.name GLOB g.value OR b.block GLOB g.value OR b.case_key = g.value))
  ORDER BY c.id)
SELECT coalesce(e.node, e.host_name) AS host, e.gpu_count, coalesce(e.gpu_name, 'no GPU') AS gpus,
  r.uuid AS run_uuid, s.name AS scenario,
  strftime('%Y-%m-%d %H:%M', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  (SELECT count(*) FROM plan_case p JOIN bench_case b ON b.id = p.bench_case
   WHERE p.run = x.run AND (:only IS NULL OR EXISTS (
     SELECT 1 FROM json_each(:only) g
     WHERE b.name GLOB g.value OR b.block GLOB g.value OR b.case_key = g.value))) AS cases,
  (SELECT count(DISTINCT name) FROM wrong) AS wrong,
  (SELECT printf('%s: %s: %s', name, status, reason) FROM wrong LIMIT 1) AS wrong_case
FROM explained x
JOIN environment e ON e.id = x.environment
LEFT JOIN run r ON r.id = x.run
LEFT JOIN scenario s ON s.id = r.scenario;

-- name: touched
-- The cases of a finding: how many, their blocks, and the one that is furthest behind those of other places.
-- Then those below the expected range, and how many there are without :only. :classes is "a,b"; :gpu NULL: of any.
WITH
  any_hit AS (
    SELECT DISTINCT b.id AS bench_case, b.name AS name, b.case_key AS case_key, b.block AS block, p.position AS position
    FROM plan_case p
    JOIN bench_case b ON b.id = p.bench_case
    WHERE p.run = (SELECT run FROM explained)
      AND (:gpu IS NULL AND :classes = 'all' OR b.id IN (
        SELECT t.bench_case FROM touched t
        WHERE (:gpu IS NULL OR t.gpu = :gpu)
          AND (:classes = 'all' OR instr(',' || :classes || ',', ',' || t.class || ',') > 0)))),
  hit AS (
    SELECT * FROM any_hit h
    WHERE :only IS NULL OR EXISTS (
      SELECT 1 FROM json_each(:only) g WHERE h.name GLOB g.value OR h.block GLOB g.value OR h.case_key = g.value)),
  worst AS (
    SELECT r.name AS name, r.gbps AS gbps, r.ns AS ns, r.best AS best, 1 - r.speed / r.best AS behind
    FROM hit h JOIN result r ON r.bench_case = h.bench_case
    WHERE r.places > 1 ORDER BY behind DESC, h.position LIMIT 1)
SELECT (SELECT count(*) FROM hit) AS cases,
  (SELECT group_concat(block, ', ') FROM (SELECT block FROM hit GROUP BY block ORDER BY min(position))) AS blocks,
  (SELECT name FROM worst) AS worst, (SELECT behind FROM worst) AS behind, (SELECT gbps FROM worst) AS gbps,
  (SELECT CASE WHEN gbps IS NOT NULL THEN best END FROM worst) AS best_gbps,
  (SELECT group_concat(s.case_key) FROM hit h JOIN shortfall s ON s.case_key = h.case_key) AS keys,
  (SELECT max(s.lack) FROM hit h JOIN shortfall s ON s.case_key = h.case_key) AS lack,
  (SELECT count(*) FROM any_hit) AS cases_of_run;

-- name: reason
-- Why a fact is not known; no row: it was not recorded.
SELECT state || ': ' || value AS word FROM environment_fact
WHERE environment = (SELECT environment FROM explained) AND name = :name AND gpu = :gpu AND state <> 'ok';
