-- How much the processes of a run differ.
--
-- One row per block: how much the medians of its cases differ from process to process. This determines how small a
-- change `haul diff` can detect. Trials of one process agree far better.
--
-- column cells: number of cases
-- column processes: number of processes
-- column least_percent, median_percent, most_percent: (%) coefficient of variation of the steadiest case, the median
--   case, and the one that varies most
-- column worst: the case that varies most
--
-- about: comparison
--
-- narrow: processes,least_percent,cells,worst,median_percent
--
-- empty: it needs a run of two or more processes (haul run --processes 5)
--
-- :run (run, default latest) the run to show
WITH RECURSIVE
  cell AS (
    SELECT c.block AS block, c.path AS path, min(c.position) AS position,
      count(*) AS processes,
      1e4 * max(0, avg(c.median_ns * c.median_ns) / (avg(c.median_ns) * avg(c.median_ns)) - 1)
          * count(*) / (count(*) - 1) AS square
    FROM v_case c
    WHERE c.run = :run AND c.status = 'ok'
    GROUP BY c.case_key
    HAVING count(*) > 1),
  -- Its root, by Newton: SQLite has a function for it only from 3.35 on, and not in every build.
  root AS (
    SELECT block, path, position, processes, square, max(square, 1.0) AS cv, 40 AS steps FROM cell
    UNION ALL
    SELECT block, path, position, processes, square, (cv + square / cv) / 2, steps - 1
    FROM root WHERE steps > 0),
  ranked AS (
    SELECT *, row_number() OVER (PARTITION BY block ORDER BY cv) AS i,
      count(*) OVER (PARTITION BY block) AS n
    FROM root WHERE steps = 0)
SELECT
  block AS block,
  count(*) AS cells,
  max(processes) AS processes,
  round(min(cv), 3) AS least_percent,
  round(avg(CASE WHEN 2 * i BETWEEN n AND n + 2 THEN cv END), 3) AS median_percent,
  round(max(cv), 3) AS most_percent,
  max(CASE WHEN i = n THEN path END) AS worst
FROM ranked
GROUP BY block
ORDER BY min(position);
