-- Copies divided among streams, and priorities of streams.
--
-- One row per case of the latest run of copy-engines. streams: how many the bytes of each direction are divided among.
-- gbps is the rate of all of them together over one window, low and high its 95 % interval; of_one is how often the rate
-- with one stream it is: 1, a single engine has the whole link already. priority is that of the measured flow, load what
-- runs beside it; tflops is the rate of a measured kernel.
--
-- of: copy-engines
--
-- narrow: low,high,load,tflops,priority,remark
--
-- :run (run, default null) the run to show; null: the latest of copy-engines
WITH
  result AS (
    SELECT c.*,
      c.flows / CASE c.direction WHEN 'both' THEN 2 ELSE 1 END AS streams,
      (SELECT coalesce(f.priority, 'default') FROM flow f
       WHERE f.bench_case = c.bench_case AND f.role = 'measured' ORDER BY f.ordinal LIMIT 1) AS priority,
      (SELECT coalesce(f.compute_op, f.method) || coalesce(', ' || f.priority, '') FROM flow f
       WHERE f.bench_case = c.bench_case AND f.role = 'load' ORDER BY f.ordinal LIMIT 1) AS load
    FROM v_run_case c
    WHERE c.status <> 'skipped'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'copy-engines'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)))
SELECT
  r.block AS block,
  coalesce(r.direction, r.operation) AS what,
  r.payload_bytes AS bytes,
  r.method AS method,
  r.streams AS streams,
  r.priority AS priority,
  r.load AS load,
  r.gbps AS gbps,
  r.gbps_low AS low,
  r.gbps_high AS high,
  CASE WHEN r.load IS NULL THEN r.gbps / o.gbps END AS of_one,
  r.tflops AS tflops,
  CASE WHEN r.status <> 'ok' THEN r.status || ': ' || r.reason END AS remark
FROM result r
LEFT JOIN result o ON o.block = r.block AND o.direction = r.direction AND o.payload_bytes = r.payload_bytes
  AND o.streams = 1 AND o.load IS NULL
ORDER BY r.position;
