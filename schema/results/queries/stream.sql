-- STREAM against threads a block and elements of an array.
--
-- One row a point of a curve: what the latest run of stream measured. series is "threads" (2^26
-- elements by blocks of that many threads) or "elements" (by blocks of 1024 threads), ms the time
-- of one pass.
--
-- :run (run, default null) another run than the latest of stream
SELECT
  c.source_place || c.source_index AS gpu,
  c.block AS series,
  c.operation AS operation,
  c.block_threads AS threads,
  c.size_bytes / 8 AS elements,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.median_ns / 1e6 AS ms,
  c.percent_of_peak AS peak_pct,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped' AND c.block IN ('threads', 'elements')
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'stream'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, c.block DESC, c.position;
