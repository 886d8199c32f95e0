-- At which size of the pieces another way to copy them is the fastest.
--
-- From the curves of the latest run of scattered-copies. Sizes at which two ways are as fast (within :tie, or within
-- their intervals) are passed over.
--
-- column question: `A or B`: which of the two ways is faster. `A, 90 % of one copy`: when A comes within 10 % of a
--   contiguous copy by a copy engine. `step of A`: where the rate of A rises most
-- column at_bytes: size of the pieces at which the answer changes. NULL: one way is faster at every size
-- column below, above: the faster way below and above that size
-- column gbps: (GB/s) rate at which the curves cross, on a line between two measured sizes
-- column ratio: `step of A`: how many times the rate rises. A step has a row if it rises by half more than at the size
--   before, also at the ends of the intervals
--
-- of: scattered-copies
--
-- narrow: ratio,gbps
--
-- :tie (real, default 0.02) relative difference up to which two rates are the same
-- :gpu (integer, default 0) 1: rates between events on the GPU, without intervals, instead of on the host's clock
-- :run (run, default null) the run to show; without it: the latest of scattered-copies
WITH
  measured AS (
    SELECT c.path,
      CASE c.method WHEN 'ce' THEN 'ce ' || c.submit
        ELSE c.method || ifnull(', ' || c.grid_blocks || ' blocks', '') END AS how,
      c.piece_bytes AS size, c.pieces,
      CASE :gpu WHEN 0 THEN c.gbps
        ELSE (SELECT avg(p.gpu_gbps) FROM v_case p WHERE p.run = c.run AND p.bench_case = c.bench_case) END AS gbps,
      c.position, c.payload_bytes,
      CASE :gpu WHEN 0 THEN coalesce(c.gbps_low, (SELECT c.payload_bytes / max(p.max_ns) FROM v_case p
        WHERE p.run = c.run AND p.bench_case = c.bench_case)) END AS low,
      CASE :gpu WHEN 0 THEN coalesce(c.gbps_high, (SELECT c.payload_bytes / min(p.min_ns) FROM v_case p
        WHERE p.run = c.run AND p.bench_case = c.bench_case)) END AS high
    FROM v_run_case c
    WHERE c.status = 'ok' AND c.piece_places = 'random' AND c.flows = 1
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'scattered-copies'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  point AS (
    SELECT path, how, size, pieces, gbps, position, payload_bytes, coalesce(low, gbps) AS low,
      coalesce(high, gbps) AS high
    FROM measured),
  curve AS (
    SELECT * FROM (
      SELECT p.*, count(*) OVER w AS sizes, min(p.position) OVER w AS place
      FROM point p WINDOW w AS (PARTITION BY p.path, p.how, p.payload_bytes))
    WHERE sizes >= 4),
  -- Two curves of a path, the earlier one first: ratio > 1 where it is the faster one.
  duel AS (
    SELECT a.path, a.how AS one, b.how AS other, a.place, b.place AS other_place, a.size, a.gbps AS gbps,
      a.gbps / b.gbps AS ratio,
      lag(a.size) OVER w AS size_before, lag(a.gbps) OVER w AS gbps_before, lag(a.gbps / b.gbps) OVER w AS ratio_before
    FROM curve a
    JOIN curve b ON b.path = a.path AND b.payload_bytes = a.payload_bytes AND b.size = a.size AND b.place > a.place
    WHERE abs(a.gbps / b.gbps - 1) > :tie AND (a.low > b.high OR a.high < b.low)
    WINDOW w AS (PARTITION BY a.path, a.how, b.how, a.payload_bytes ORDER BY a.size)),
  crossing AS (
    SELECT d.*, (1 - d.ratio_before) / (d.ratio - d.ratio_before) AS part
    FROM duel d WHERE (d.ratio > 1) <> (d.ratio_before > 1)),
  one_copy AS (
    SELECT path, payload_bytes, max(gbps) AS gbps FROM point
    WHERE pieces = 1 AND how LIKE 'ce %' GROUP BY path, payload_bytes),
  -- Every size with what it is of one copy; the last one that is below 90 % counts.
  share AS (
    SELECT c.path, c.how, c.place, c.size, c.gbps, c.gbps / o.gbps AS share,
      lead(c.size) OVER w AS size_after, lead(c.gbps) OVER w AS gbps_after, lead(c.gbps / o.gbps) OVER w AS share_after
    FROM curve c JOIN one_copy o ON o.path = c.path AND o.payload_bytes = c.payload_bytes
    WINDOW w AS (PARTITION BY c.path, c.how, c.payload_bytes ORDER BY c.size)),
  last_below AS (
    SELECT s.* FROM share s
    WHERE s.share < 0.9 AND NOT EXISTS (
      SELECT 1 FROM share t WHERE t.path = s.path AND t.how = s.how AND t.size > s.size AND t.share < 0.9)),
  rise AS (
    SELECT c.path, c.how, c.place, c.size, c.gbps, c.gbps / lag(c.gbps) OVER w AS ratio,
      c.low / lag(c.high) OVER w AS least, 1.0 * c.size / lag(c.size) OVER w AS growth
    FROM curve c WINDOW w AS (PARTITION BY c.path, c.how, c.payload_bytes ORDER BY c.size)),
  answer AS (
    SELECT path, 1 AS part_of, place, other_place, one || ' or ' || other AS question,
      CAST(round(size_before + part * (size - size_before)) AS INTEGER) AS at_bytes,
      CASE WHEN ratio > 1 THEN other ELSE one END AS below,
      CASE WHEN ratio > 1 THEN one ELSE other END AS above,
      gbps_before + part * (gbps - gbps_before) AS gbps, NULL AS ratio
    FROM crossing
    UNION ALL
    SELECT path, 1, place, other_place, one || ' or ' || other, NULL,
      CASE WHEN min(ratio) > 1 THEN one ELSE other END,
      CASE WHEN min(ratio) > 1 THEN one ELSE other END, NULL, NULL
    FROM duel GROUP BY path, one, other, place, other_place
    HAVING min(ratio) > 1 OR max(ratio) <= 1
    UNION ALL
    SELECT path, 2, place, 0, how || ', 90 % of one copy',
      CAST(round(size + (0.9 - share) / (share_after - share) * (size_after - size)) AS INTEGER), NULL, how,
      gbps + (0.9 - share) / (share_after - share) * (gbps_after - gbps), NULL
    FROM last_below
    UNION ALL
    SELECT path, 2, place, 0, how || ', 90 % of one copy', min(size), NULL, how, min(gbps), NULL
    FROM share GROUP BY path, how, place HAVING min(share) >= 0.9
    UNION ALL
    SELECT path, 3, place, 0, 'step of ' || how, size, NULL, NULL, gbps, max(ratio)
    FROM rise WHERE least > 1.5 * growth GROUP BY path, how, place)
SELECT
  path AS path,
  question AS question,
  at_bytes AS at_bytes,
  below AS below,
  above AS above,
  gbps AS gbps,
  ratio AS ratio
FROM answer
ORDER BY path, part_of, place, other_place, at_bytes;
