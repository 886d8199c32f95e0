-- Idle and loaded latency, and bandwidth.
--
-- One row per case of a run of loaded-latency: a latency or a bandwidth, while copies load the same memory. More blocks
-- offer more load. If load_gbps does not grow any more, they only wait longer.
--
-- columns: v_run_case
-- column measured: what is measured
-- column load: copies that run at the same time: `from it`, from the measured memory, or `to it`
-- column blocks: blocks of the copying kernel
-- column load_gbps: (GB/s) rate of the load. 0: idle, where each curve begins
-- column ns_per_hop: (ns) time of one access
-- column gbps: (GB/s) bandwidth
-- column low, high: interval of ns_per_hop or gbps
-- column of_idle: the number divided by that of the idle memory; below 1 is a lower bandwidth
-- column remark: why there is no number
--
-- of: loaded-latency
--
-- plot: x=load_gbps y=ns_per_hop|gbps low=low high=high curve=load by=measured,path,size_bytes scale=linear
--
-- narrow: low,high,remark,size_bytes,path,blocks
--
-- :run (run, default null) the run to show; without it: the latest of loaded-latency
WITH
  loads AS (
    SELECT f.run, f.case_key, sum(f.gbps) / count(DISTINCT f.case_run) AS gbps,
      group_concat(DISTINCT f.method) AS methods, count(DISTINCT f.source || f.target) AS ways,
      min(f.source) AS source, min(f.target) AS target
    FROM v_flow f
    WHERE f.role = 'load'
      AND f.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'loaded-latency'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
    GROUP BY f.run, f.case_key),
  point AS (
    SELECT c.*,
      CASE c.kind WHEN 'chase' THEN 'latency, ' || c.space WHEN 'stream' THEN c.operation ELSE c.method END
        AS measured,
      l.gbps AS load_gbps,
      (SELECT sum(f.kernel_grid) FROM flow f WHERE f.bench_case = c.bench_case AND f.role = 'load') AS blocks,
      CASE WHEN l.run IS NOT NULL THEN
        l.methods || ', ' || CASE
          WHEN l.ways > 1 THEN 'several ways'
          WHEN l.source = c.source AND l.target = c.source THEN 'within it'
          WHEN l.source = c.source THEN 'from it'
          WHEN l.target = c.source THEN 'to it'
          ELSE l.source || ' to ' || l.target END END AS load
    FROM v_run_case c
    LEFT JOIN loads l ON l.run = c.run AND l.case_key = c.case_key
    WHERE c.status <> 'skipped'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'loaded-latency'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  idle AS (SELECT p.* FROM point p WHERE p.load IS NULL),
  curve AS (
    SELECT p.measured, p.path, p.size_bytes, p.load, min(p.position) AS place
    FROM point p WHERE p.load IS NOT NULL
    GROUP BY p.measured, p.path, p.size_bytes, p.load),
  -- The idle case begins each curve of its path.
  shown AS (
    SELECT k.place, k.measured, k.path, k.size_bytes, k.load, 0 AS load_gbps, 0 AS position, NULL AS blocks,
      i.median_ns AS idle_ns, i.median_ns, i.low_ns, i.high_ns, i.ns_per_hop, i.gbps, i.payload_bytes, i.status, i.reason
    FROM curve k
    JOIN idle i ON i.measured = k.measured AND i.path = k.path AND i.size_bytes IS k.size_bytes
    UNION ALL
    SELECT k.place, p.measured, p.path, p.size_bytes, p.load, p.load_gbps, p.position, p.blocks, i.median_ns, p.median_ns,
      p.low_ns, p.high_ns, p.ns_per_hop, p.gbps, p.payload_bytes, p.status, p.reason
    FROM point p
    JOIN curve k ON k.measured = p.measured AND k.path = p.path AND k.size_bytes IS p.size_bytes
      AND k.load = p.load
    LEFT JOIN idle i ON i.measured = p.measured AND i.path = p.path AND i.size_bytes IS p.size_bytes)
SELECT
  s.measured AS measured,
  s.path AS path,
  s.size_bytes AS size_bytes,
  s.load AS load,
  s.blocks AS blocks,
  round(s.load_gbps, 2) AS load_gbps,
  round(s.ns_per_hop, 1) AS ns_per_hop,
  round(s.gbps, 2) AS gbps,
  CASE WHEN s.ns_per_hop IS NULL THEN round(s.payload_bytes / s.high_ns, 2)
    ELSE round(s.low_ns * s.ns_per_hop / s.median_ns, 1) END AS low,
  CASE WHEN s.ns_per_hop IS NULL THEN round(s.payload_bytes / s.low_ns, 2)
    ELSE round(s.high_ns * s.ns_per_hop / s.median_ns, 1) END AS high,
  round(CASE WHEN s.ns_per_hop IS NULL THEN s.idle_ns / s.median_ns ELSE s.median_ns / s.idle_ns END, 3) AS of_idle,
  CASE WHEN s.status <> 'ok' THEN s.status || ': ' || s.reason END AS remark
FROM shown s
ORDER BY s.place, s.position;
