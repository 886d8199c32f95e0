-- Up to which size copies and loads keep their rate, by allocator: the reach of the GPU's TLB.
--
-- One row per curve over sizes.
--
-- column memory: kind of memory
-- column what: what is measured
-- column best: (as unit) the highest rate, or the shortest load
-- column reach_bytes: largest size within 5 % of the best rate, or 10 % of the shortest load. Equal to last_bytes if
--   nothing fell up to there
-- column last_bytes, last: the largest size that fitted, and its value
-- column change_percent: (%) change from best to last
--
-- of: allocators
--
-- narrow: path,change_percent
--
-- :run (run, default null) the run to show; without it: the latest of allocators
WITH
  measured AS (
    SELECT c.position, c.path, c.source_memory AS memory, c.kind, c.method, c.size_bytes,
      CASE c.kind WHEN 'chase' THEN c.ns_per_hop ELSE c.gbps END AS value,
      CASE c.kind WHEN 'chase' THEN -c.ns_per_hop ELSE c.gbps END AS goodness,
      CASE c.kind WHEN 'chase' THEN 1.1 ELSE 0.95 END AS share
    FROM v_run_case c
    WHERE c.status = 'ok'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'allocators'
                                  ORDER BY r.started_at DESC, r.run DESC LIMIT 1))),
  curve AS (
    SELECT m.*, max(m.goodness) OVER w AS best, min(m.position) OVER w AS place
    FROM measured m WINDOW w AS (PARTITION BY m.path, m.kind, m.method))
SELECT
  path AS path,
  memory AS memory,
  CASE kind WHEN 'chase' THEN 'load' ELSE 'copy by ' || method END AS what,
  CASE kind WHEN 'chase' THEN 'ns' ELSE 'GB/s' END AS unit,
  abs(best) AS best,
  max(CASE WHEN goodness >= best * share THEN size_bytes END) AS reach_bytes,
  max(size_bytes) AS last_bytes,
  (SELECT l.value FROM measured l WHERE l.path = c.path AND l.kind = c.kind AND l.method IS c.method
   ORDER BY l.size_bytes DESC LIMIT 1) AS last,
  100 * ((SELECT l.value FROM measured l WHERE l.path = c.path AND l.kind = c.kind AND l.method IS c.method
          ORDER BY l.size_bytes DESC LIMIT 1) / abs(best) - 1) AS change_percent
FROM curve c
GROUP BY path, kind, method
ORDER BY min(place);
