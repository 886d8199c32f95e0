-- The curves of a run: sweeps of sizes or other numbers.
--
-- One row per point, made for --plot. A block whose cases differ in a number is one plot over the number with
-- the most values; the size wins a tie. Rates are in GB/s, times of loads and calls in ns.
--
-- plot: x=x y=gbps|ns low=low high=high curve=curve by=plot axis=axis
--
-- about: results
--
-- narrow: axis,low,high,plot
--
-- empty: the cases of the run differ in no number
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
WITH RECURSIVE
  -- A setting that comes to a case of another one is a point as well.
  result AS (
    SELECT p.listed AS position, p.block, p.case_name, p.axes, c.size_bytes, c.gbps,
      CASE WHEN c.gbps IS NULL THEN coalesce(c.ns_per_hop, c.median_ns) END AS ns,
      coalesce(c.gbps_low, coalesce(c.ns_per_hop, c.median_ns) * c.low_ns / c.median_ns) AS low,
      coalesce(c.gbps_high, coalesce(c.ns_per_hop, c.median_ns) * c.high_ns / c.median_ns) AS high
    FROM v_place p CROSS JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
    WHERE p.run = :run AND c.status = 'ok' AND p.block GLOB :block),
  -- The axes of a case, one per row; the size by its own column, whichever key it came from.
  word (position, word, rest) AS (
    SELECT position, NULL, axes FROM result WHERE axes <> ''
    UNION ALL
    -- The last word ends where the text does, also where that is cut by a NUL: each step leaves less.
    SELECT position, substr(rest, 1, instr(rest || ' ', ' ') - 1), substr(rest, instr(rest || ' ', ' ') + 1)
    FROM word WHERE rest <> ''),
  axis (position, name, value, text) AS (
    SELECT position, 'size_bytes', size_bytes, NULL FROM result WHERE size_bytes IS NOT NULL
    UNION ALL
    SELECT position, substr(word, 1, instr(word, '=') - 1),
      CAST(substr(word, instr(word, '=') + 1) AS REAL)
        * CASE
            WHEN word GLOB '*KiB' THEN 1 << 10
            WHEN word GLOB '*MiB' THEN 1 << 20
            WHEN word GLOB '*GiB' THEN 1 << 30
            ELSE 1
          END,
      '/' || word
    FROM word
    WHERE word GLOB '*=[0-9]*' AND word NOT GLOB 'size=*' AND word NOT GLOB 'footprint=*'
      -- The number of a place is a name: it tells curves apart.
      AND word NOT GLOB 'from.*' AND word NOT GLOB 'to.*'
      AND word NOT GLOB 'of.*' AND word NOT GLOB 'at.*'),
  swept AS (
    SELECT r.block, a.name, count(DISTINCT a.value) AS points,
      row_number() OVER (PARTITION BY r.block
        ORDER BY count(DISTINCT a.value) DESC, a.name = 'size_bytes' DESC) AS choice
    FROM axis a JOIN result r ON r.position = a.position
    GROUP BY r.block, a.name),
  -- Axes in lockstep with x tell no curves apart.
  pair (position, block, name, text) AS (
    SELECT w.position, r.block, substr(w.word, 1, instr(w.word, '=') - 1), '/' || w.word
    FROM word w JOIN result r ON r.position = w.position
    WHERE instr(w.word, '=') > 0),
  lockstep (block, name) AS (
    SELECT p.block, p.name
    FROM swept s
    JOIN pair p ON p.block = s.block AND p.name <> s.name
    JOIN axis a ON a.position = p.position AND a.name = s.name
    WHERE s.choice = 1
    GROUP BY p.block, p.name
    HAVING count(DISTINCT p.text) > 1
      AND count(DISTINCT p.text || ' ' || a.value) = count(DISTINCT a.value)),
  dropped (position, one, another) AS (
    SELECT p.position, min(p.text), max(p.text)
    FROM pair p JOIN lockstep l ON l.block = p.block AND l.name = p.name
    GROUP BY p.position)
SELECT
  r.block AS plot,
  -- The case's name without its block, and without the number that is x.
  replace(replace(CASE
    WHEN s.name = 'size_bytes' THEN rtrim(rtrim(substr(r.case_name, length(r.block) + 2),
      replace(r.case_name, '/', '')), '/')
    ELSE replace(substr(r.case_name, length(r.block) + 2), a.text, '')
  END, ifnull(d.one, ''), ''), ifnull(d.another, ''), '') AS curve,
  CASE WHEN a.text GLOB '*B' THEN s.name || '_bytes' ELSE s.name END AS axis,
  a.value AS x,
  r.gbps AS gbps,
  r.ns AS ns,
  r.low AS low,
  r.high AS high
FROM swept s
JOIN result r ON r.block = s.block
JOIN axis a ON a.position = r.position AND a.name = s.name
LEFT JOIN dropped d ON d.position = r.position
WHERE s.choice = 1 AND s.points > 1
ORDER BY r.position;
