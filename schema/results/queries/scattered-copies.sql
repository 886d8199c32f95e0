-- Copies of scattered pieces against the size of the pieces.
--
-- One row per point of a curve, from the latest run of scattered-copies: a loop of copies (ce loop), one batch
-- (ce batch) and a kernel (sm), with as many bytes each. gbps is on the host's clock, from the first call to the end,
-- gpu_gbps between events on the GPU; submit_percent is how much of that time the host was in calls of the driver. One
-- piece is one contiguous copy. Curves of fewer than 4 sizes are left out.
--
-- of: scattered-copies
--
-- plot: x=piece_bytes y=gbps low=low high=high curve=how by=path scale=semilog
--
-- narrow: low,high,pieces,gpu_gbps,remark,submit_percent
--
-- :run (run, default null) the run to show; without it: the latest of scattered-copies
WITH
  point AS (
    SELECT c.path,
      CASE c.method WHEN 'ce' THEN 'ce ' || c.submit
        ELSE c.method || ifnull(', ' || c.grid_blocks || ' blocks', '') END AS how,
      c.piece_bytes, c.pieces, c.gbps, c.gbps_low AS low, c.gbps_high AS high,
      (SELECT avg(p.gpu_gbps) FROM v_case p WHERE p.run = c.run AND p.bench_case = c.bench_case) AS gpu_gbps,
      (SELECT 100 * avg(p.submit_ns / p.median_ns) FROM v_case p
       WHERE p.run = c.run AND p.bench_case = c.bench_case) AS submit_percent,
      CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark,
      c.position, c.payload_bytes
    FROM v_run_case c
    WHERE c.status <> 'skipped' AND c.piece_places = 'random' AND c.flows = 1
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'scattered-copies'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  curve AS (
    SELECT p.*, count(*) OVER w AS sizes, min(p.position) OVER w AS place
    FROM point p WINDOW w AS (PARTITION BY p.path, p.how, p.payload_bytes))
SELECT
  path AS path,
  how AS how,
  piece_bytes AS piece_bytes,
  pieces AS pieces,
  gbps AS gbps,
  low AS low,
  high AS high,
  gpu_gbps AS gpu_gbps,
  submit_percent AS submit_percent,
  remark AS remark
FROM curve
WHERE sizes >= 4
ORDER BY path, place, piece_bytes;
