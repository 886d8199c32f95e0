-- STREAM against threads per block and elements of an array.
--
-- One row per point of a curve, from the latest run of stream. series is "threads" (2^26 elements, by blocks of that
-- many threads) or "elements" (by blocks of 1024 threads); ms is the time of one pass. Where the arrays of an
-- operation fit the L2 cache together, the rate is not that of the memory, and the remark says so.
--
-- of: stream
--
-- plot: x=threads y=gbps low=low high=high curve=operation by=gpu,series rows=series:threads
--     peak=peak_gbps scale=semilog
-- plot: x=elements y=gbps low=low high=high curve=operation by=gpu,series rows=series:elements
--     peak=peak_gbps scale=semilog
--
-- narrow: low,high,ms,elements,peak_gbps,remark,threads,percent_of_peak
--
-- :run (run, default null) the run to show; without it: the latest of stream
WITH
  point AS (
    SELECT c.*, d.l2_bytes,
      c.size_bytes * CASE WHEN c.operation IN ('add', 'triad') THEN 3 ELSE 2 END AS arrays_bytes
    FROM v_run_case c
    LEFT JOIN v_gpu d ON d.run = c.run AND d.gpu = c.source_index AND c.source_place = 'gpu'
    WHERE c.status <> 'skipped' AND c.block IN ('threads', 'elements')
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'stream'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  -- The last point of both curves is one case, which is measured once.
  curve AS (
    SELECT 'threads' AS series, p.* FROM point p WHERE p.block = 'threads'
    UNION ALL
    SELECT 'elements', p.* FROM point p
    WHERE p.block = 'elements' OR p.block_threads = 1024)
SELECT
  c.source_place || c.source_index AS gpu,
  c.series AS series,
  c.operation AS operation,
  c.block_threads AS threads,
  c.size_bytes / 8 AS elements,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.median_ns / 1e6 AS ms,
  c.peak_gbps AS peak_gbps,
  c.percent_of_peak AS percent_of_peak,
  CASE
    WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason
    WHEN c.arrays_bytes <= c.l2_bytes THEN 'fits the L2 cache'
  END AS remark
FROM curve c
ORDER BY c.source_index, c.series DESC,
  CASE c.operation WHEN 'copy' THEN 0 WHEN 'mul' THEN 1 WHEN 'add' THEN 2 ELSE 3 END,
  c.size_bytes, c.block_threads;
