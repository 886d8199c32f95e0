-- STREAM in sequence, beside each operation alone.
--
-- One row per GPU, kernel, number of elements and operation, from the latest run of stream: GB/s where copy, mul, add
-- and triad follow each other over the same three arrays, and where the operation is alone; either way each pass is
-- timed by its own events. kernel is "best" or "simple" (one element per thread, blocks of 1024). mean is by the mean
-- time of the trials in sequence. Where arrays fit the L2 cache the rate is not that of the memory, and the remark
-- says which.
--
-- of: stream
--
-- plot: x=elements y=sequence,alone curve=operation by=gpu rows=kernel:simple peak=peak_gbps unit=GB/s scale=semilog
--
-- narrow: low,high,peak_gbps,change_percent,remark,kernel,mean
--
-- :run (run, default null) the run to show; without it: the latest of stream
WITH
  asked AS (
    SELECT coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'stream'
                           ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)) AS run),
  -- v_place of that run alone.
  place AS (
    SELECT p.run, p.bench_case, b.block, ifnull(p.listed, p.position) AS listed
    FROM plan_case p JOIN bench_case b ON b.id = p.bench_case WHERE p.run = (SELECT run FROM asked)
    UNION ALL
    SELECT a.run, a.measured_by, b.block, a.listed
    FROM plan_alias a JOIN bench_case b ON b.id = a.bench_case WHERE a.run = (SELECT run FROM asked)),
  point AS (
    SELECT c.*, p.listed,
      CASE WHEN p.block IN ('sequence', 'alone') THEN 'best' ELSE 'simple' END AS kernel,
      CASE WHEN p.block LIKE 'sequence%' THEN 1 ELSE 0 END AS in_sequence,
      d.l2_bytes,
      (SELECT c.payload_bytes / avg(m.mean_ns) FROM case_run m
       WHERE m.run = c.run AND m.bench_case = c.bench_case AND m.status = 'ok') AS mean
    FROM place p
    CROSS JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
    LEFT JOIN v_gpu d ON d.run = c.run AND d.gpu = c.source_index AND c.source_place = 'gpu'
    WHERE c.status <> 'skipped' AND p.block IN ('alone', 'alone_elements', 'sequence', 'sequence_elements'))
SELECT
  s.source_place || s.source_index AS gpu,
  s.kernel AS kernel,
  s.size_bytes / 8 AS elements,
  s.operation AS operation,
  s.gbps AS sequence,
  s.gbps_low AS low,
  s.gbps_high AS high,
  s.mean AS mean,
  s.peak_gbps AS peak_gbps,
  s.percent_of_peak AS percent_of_peak,
  a.gbps AS alone,
  100 * (s.gbps / a.gbps - 1) AS change_percent,
  CASE
    WHEN s.status <> 'ok' THEN s.status || ': ' || s.reason
    WHEN 3 * s.size_bytes <= s.l2_bytes THEN 'all three arrays fit the L2 cache'
    WHEN CASE WHEN s.operation IN ('add', 'triad') THEN 3 ELSE 2 END * s.size_bytes <= s.l2_bytes
      THEN 'alone: fits the L2 cache'
  END AS remark
FROM point s
LEFT JOIN point a ON a.in_sequence = 0 AND a.kernel = s.kernel AND a.source_index = s.source_index
  AND a.operation = s.operation AND a.size_bytes = s.size_bytes
WHERE s.in_sequence = 1
ORDER BY s.source_index, s.kernel, s.size_bytes, s.listed;
