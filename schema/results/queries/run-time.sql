-- Where the wall time of a run went.
--
-- measuring: inside trials, including what must happen right before one. verifying: filling, poisoning and
-- comparing buffers. allocating: allocating them. preparing: everything else that a case does in its worker.
-- starting: from the start of the run, or the end of a process, until the next worker was ready to measure.
-- idle: the rest, in which no worker had a case: recording, and what followed.
--
-- about: results
--
-- narrow: percent
--
-- empty: the run has no case
--
-- :run (run, default latest) the run to show
WITH
  cases AS (
    SELECT total(measure_ns) AS measure_ns, total(verify_ns) AS verify_ns,
      total(allocate_ns) AS allocate_ns, total(total_ns) AS total_ns
    FROM case_run WHERE run = :run),
  starts AS (
    SELECT total(p.started_at_ns - coalesce(
        (SELECT max(q.ended_at_ns) FROM process q
         WHERE q.run = p.run AND q.ended_at_ns <= p.started_at_ns), r.started_at_ns)) AS start_ns
    FROM process p JOIN run r ON r.id = p.run WHERE p.run = :run),
  whole AS (
    SELECT coalesce(ended_at_ns,
        (SELECT max(p.ended_at_ns) FROM process p WHERE p.run = r.id)) - started_at_ns AS wall_ns
    FROM run r WHERE id = :run),
  parts AS (
    SELECT 1 AS place, 'measuring' AS what, measure_ns AS ns FROM cases
    UNION ALL SELECT 2, 'verifying', verify_ns FROM cases
    UNION ALL SELECT 3, 'allocating', allocate_ns FROM cases
    UNION ALL SELECT 4, 'preparing', max(0, total_ns - measure_ns - verify_ns - allocate_ns)
      FROM cases
    UNION ALL SELECT 5, 'starting', start_ns FROM starts
    UNION ALL SELECT 6, 'idle', max(0, wall_ns - start_ns - total_ns) FROM whole, starts, cases
    UNION ALL SELECT 7, 'all', wall_ns FROM whole)
SELECT
  p.what AS what,
  round(p.ns / 1e9, 3) AS seconds,
  round(100.0 * p.ns / w.wall_ns, 1) AS percent
FROM parts p, whole w
ORDER BY p.place;
