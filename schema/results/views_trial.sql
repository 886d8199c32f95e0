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
  coalesce(h.footprint_bytes, o.size_bytes, st.size_bytes, (SELECT f.size_bytes FROM flow f
    WHERE f.bench_case = b.id AND f.role = 'measured' ORDER BY f.ordinal LIMIT 1)) AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  t.iterations AS iterations,
  t.start_ns AS start_ns,
  t.elapsed_ns AS elapsed_ns,
  t.cycles AS cycles,
  1.0 * t.elapsed_ns / t.iterations AS ns,
  1.0 * nullif(b.payload_bytes, 0) * t.iterations / t.elapsed_ns AS gbps,
  1.0 * t.elapsed_ns / t.iterations / nullif(h.hops, 0) AS ns_per_hop,
  1.0 * t.cycles / t.iterations / nullif(b.operations, 0) AS cycles_per_op,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated,
  e.node AS node,
  t.submit_ns AS submit_ns,
  t.gpu_ns AS gpu_ns,
  coalesce(t.visit, 0) AS visit
FROM trial t
JOIN case_run c ON c.id = t.case_run
JOIN run r ON r.id = c.run
JOIN v_machine e ON e.environment = r.environment
JOIN bench_case b ON b.id = c.bench_case
JOIN process p ON p.id = c.process
LEFT JOIN chase h ON h.bench_case = b.id
LEFT JOIN overhead o ON o.bench_case = b.id
LEFT JOIN stream st ON st.bench_case = b.id
LEFT JOIN arithmetic ar ON ar.bench_case = b.id;

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
  f.size_bytes * coalesce(f.copies, 1) / coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) AS gbps,
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
    AS share
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
