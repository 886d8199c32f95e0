-- Latency of the host's memory, by node of the thread and of the memory.
--
-- One row per case of the latest run of host-latency: one thread of node `thread` follows a random cycle through memory of
-- node `memory`. ns is the time of one load, low and high its 95 % interval. load_threads copy within that memory at the
-- same time, at load_gbps; NULL: nothing does. of_idle is how often the time without them it is. A small footprint is in a
-- cache of the processor.
--
-- of: host-latency
--
-- plot: x=footprint_bytes y=ns low=low high=high curve=thread,memory by=kind rows=load:idle unit=ns scale=semilog
--
-- narrow: low,high,remark,load
--
-- :run (run, default null) the run to show; null: the latest of host-latency
WITH
  point AS (
    SELECT c.*, c.size_bytes AS footprint_bytes,
      (SELECT f.threads FROM flow f WHERE f.bench_case = c.bench_case AND f.role = 'load') AS load_threads,
      (SELECT avg(v.gbps) FROM v_flow v WHERE v.run = c.run AND v.case_key = c.case_key AND v.role = 'load') AS load_gbps
    FROM v_run_case c
    WHERE c.kind = 'chase' AND c.target_place = 'numa' AND c.status <> 'skipped'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'host-latency'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)))
SELECT
  p.target AS thread,
  p.source AS memory,
  p.source_memory AS kind,
  p.footprint_bytes AS footprint_bytes,
  CASE WHEN p.load_threads IS NULL THEN 'idle' ELSE 'loaded' END AS load,
  p.load_threads AS load_threads,
  round(p.load_gbps, 1) AS load_gbps,
  round(p.ns_per_hop, 2) AS ns,
  round(p.low_ns * p.ns_per_hop / p.median_ns, 2) AS low,
  round(p.high_ns * p.ns_per_hop / p.median_ns, 2) AS high,
  round(p.ns_per_hop / i.ns_per_hop, 2) AS of_idle,
  CASE WHEN p.status <> 'ok' THEN p.status || ': ' || p.reason END AS remark
FROM point p
LEFT JOIN point i ON p.load_threads IS NOT NULL AND i.load_threads IS NULL AND i.path = p.path
  AND i.footprint_bytes = p.footprint_bytes
ORDER BY p.position;
