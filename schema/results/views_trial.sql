-- Trials, and flows of a case. As views.sql, which comes before.

CREATE VIEW v_trial AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  p.ordinal AS process,
  c.id AS case_run,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  b.path AS path,
  b.axes AS axes,
  t.ordinal AS trial,
  CASE t.phase WHEN 0 THEN 'warmup' ELSE 'measure' END AS phase,
  CASE t.status WHEN 0 THEN 'ok' WHEN 1 THEN 'gate_timeout' ELSE 'corrupt' END AS status,
  b.size_bytes AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  t.iterations AS iterations,
  t.start_ns AS start_ns,
  t.elapsed_ns AS elapsed_ns,
  t.cycles AS cycles,
  1.0 * t.elapsed_ns / t.iterations AS ns,
  1.0 * nullif(b.payload_bytes, 0) * t.iterations / t.elapsed_ns AS gbps,
  1.0 * t.elapsed_ns / t.iterations / nullif(b.hops, 0) AS ns_per_hop,
  1.0 * t.cycles / t.iterations / nullif(b.operations, 0) AS cycles_per_op,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated,
  e.node AS node,
  t.submit_ns AS submit_ns,
  t.gpu_ns AS gpu_ns,
  coalesce(t.visit, 0) AS visit,
  c.started_at_ns + t.start_ns AS trial_started_at_ns,
  (c.started_at_ns + t.start_ns - r.started_at_ns) / 1e9 AS at_s
FROM trial t
JOIN case_run c ON c.id = t.case_run
JOIN run r ON r.id = c.run
JOIN v_machine e ON e.environment = r.environment
JOIN bench_case b ON b.id = c.bench_case
JOIN process p ON p.id = c.process;

CREATE VIEW v_flow AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  p.ordinal AS process,
  c.id AS case_run,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  f.ordinal AS flow,
  f.role AS role,
  f.method AS method,
  f.source_place AS source_place,
  f.source_index AS source_index,
  f.source_memory AS source_memory,
  f.target_place AS target_place,
  f.target_index AS target_index,
  f.target_memory AS target_memory,
  f.initiator AS initiator,
  f.staged AS staged,
  f.size_bytes AS size_bytes,
  c.status AS status,
  coalesce(x.n, CASE WHEN f.sole THEN c.n END) AS n,
  coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) AS median_ns,
  coalesce(x.p5_ns, CASE WHEN f.sole THEN c.p5_ns END) AS p5_ns,
  coalesce(x.p95_ns, CASE WHEN f.sole THEN c.p95_ns END) AS p95_ns,
  CASE WHEN f.method NOT IN ('compute', 'signal') THEN f.size_bytes * coalesce(f.copies, 1)
    / coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) END AS gbps,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated,
  f.source_place || f.source_index AS source,
  f.target_place || f.target_index AS target,
  e.node AS node,
  coalesce(f.copies, 1) AS copies,
  f.stream AS stream,
  CASE WHEN f.stream IS NOT NULL THEN coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) / c.median_ns END
    AS share,
  coalesce(f.source_process, 0) AS source_process,
  f.source_share AS source_share,
  coalesce(f.target_process, 0) AS target_process,
  f.target_share AS target_share
FROM case_run c
JOIN run r ON r.id = c.run
JOIN v_machine e ON e.environment = r.environment
JOIN bench_case b ON b.id = c.bench_case
JOIN (
  SELECT f.*,
    f.role = 'measured' AND NOT EXISTS (SELECT 1 FROM flow g
      WHERE g.bench_case = f.bench_case AND g.ordinal <> f.ordinal) AS sole
  FROM flow f) f ON f.bench_case = b.id
LEFT JOIN process p ON p.id = c.process
LEFT JOIN flow_run x ON x.case_run = c.id AND x.flow = f.ordinal;

-- What a case moves and computes, as it is defined and in words: one row per flow.
CREATE VIEW v_case_flow AS
SELECT
  f.bench_case AS bench_case,
  f.ordinal AS flow,
  f.role AS role,
  CASE WHEN f.source_memory = 'managed' AND f.target_place = 'numa' THEN 'pages to host'
    WHEN f.source_memory = 'managed' THEN 'pages to GPU' || f.target_index
    WHEN f.source_place = 'numa' AND f.target_place = 'numa'
      THEN CASE WHEN f.source_index = f.target_index THEN 'within node' || f.source_index
        ELSE 'node' || f.source_index || ' to node' || f.target_index END
    WHEN f.source_place = 'numa' THEN 'host to GPU' || f.target_index
    WHEN f.target_place = 'numa' THEN 'GPU' || f.source_index || ' to host'
    WHEN f.source_index = f.target_index THEN 'within GPU' || f.source_index
    ELSE 'GPU' || f.source_index || ' to GPU' || f.target_index END AS way,
  f.method || CASE WHEN f.kernel_variant = 'bulk' THEN ' (bulk)' ELSE '' END AS method,
  f.size_bytes AS size_bytes,
  f.compute_op AS kernel,
  f.compute_sm_percent AS sm_percent,
  f.compute_intensity AS intensity,
  (SELECT count(*) FROM flow g WHERE g.bench_case = f.bench_case) AS flows,
  CASE WHEN f.compute_op IS NOT NULL THEN coalesce(f.compute_sm_share, 'blocks') END AS sm_share
FROM flow f;

-- Where a rate falls by more than a fifth from one size to the next of a curve: of the cases of a block and path that
-- differ in the size, or the size of pieces, alone.
CREATE VIEW v_step AS
WITH
  swept AS (
    SELECT c.run, c.run_uuid, c.bench_case, c.block, c.case_name, c.path, c.gbps, c.gbps_low, c.gbps_high,
      ' ' || c.axes || ' ' AS text,
      instr(' ' || c.axes, ' size=') AS by_size, instr(' ' || c.axes, ' piece_size=') AS by_piece,
      c.size_bytes, (SELECT f.piece_bytes FROM flow f WHERE f.bench_case = c.bench_case ORDER BY f.ordinal LIMIT 1)
        AS piece_bytes
    FROM v_run_case c
    WHERE c.status = 'ok' AND c.gbps IS NOT NULL),
  point AS (
    SELECT *, CASE WHEN by_piece > 0 THEN piece_bytes ELSE size_bytes END AS bytes,
      substr(text, 1, max(by_size, by_piece))
        || substr(text, max(by_size, by_piece) + 1 + instr(substr(text, max(by_size, by_piece) + 1), ' ')) AS curve
    FROM swept WHERE (by_size > 0) + (by_piece > 0) = 1),
  neighbours AS (
    SELECT *, lag(bytes) OVER w AS bytes_before, lag(gbps) OVER w AS gbps_before, lag(gbps_low) OVER w AS low_before
    FROM point WINDOW w AS (PARTITION BY run, block, path, curve ORDER BY bytes))
SELECT
  run AS run,
  run_uuid AS run_uuid,
  block AS block,
  case_name AS case_name,
  path AS path,
  trim(curve) AS axes,
  bytes AS size_bytes,
  gbps AS gbps,
  bytes_before AS size_bytes_before,
  gbps_before AS gbps_before,
  100 * (gbps / gbps_before - 1) AS change_percent,
  bench_case AS bench_case
FROM neighbours
WHERE gbps < 0.8 * gbps_before AND coalesce(gbps_high, gbps) < coalesce(low_before, gbps_before);
