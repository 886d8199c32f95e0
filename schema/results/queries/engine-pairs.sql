-- Which copies share a copy engine: each two kinds of copies by engines of GPU 0, one after the other or at once.
--
-- One row per pair of the latest run of copy-engines. first_us and second_us: what each takes alone; together_us what both take
-- when they start together. shared_percent says how much of the shorter one is added to the longer one: 0, both run at once, by
-- engines of their own; 100, one after the other, by the same engine. Between, they share a link or the memory.
--
-- of: copy-engines
--
-- narrow: low,high
--
-- :run (run, default null) the run to show; null: the latest of copy-engines
WITH
  result AS (
    SELECT c.block, c.position, c.median_ns, c.low_ns, c.high_ns
    FROM v_run_case c
    WHERE c.status = 'ok'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'copy-engines'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  pair AS (
    SELECT r.*,
      substr(r.block, 1, instr(r.block, '_with_') - 1) AS first,
      substr(r.block, instr(r.block, '_with_') + 6) AS second
    FROM result r WHERE instr(r.block, '_with_') > 0)
SELECT
  p.first AS first,
  p.second AS second,
  a.median_ns / 1e3 AS first_us,
  b.median_ns / 1e3 AS second_us,
  p.median_ns / 1e3 AS together_us,
  100 * (p.median_ns - max(a.median_ns, b.median_ns)) / min(a.median_ns, b.median_ns) AS shared_percent,
  100 * (p.low_ns - max(a.median_ns, b.median_ns)) / min(a.median_ns, b.median_ns) AS low,
  100 * (p.high_ns - max(a.median_ns, b.median_ns)) / min(a.median_ns, b.median_ns) AS high
FROM pair p
JOIN result a ON a.block = 'alone_' || p.first
JOIN result b ON b.block = 'alone_' || p.second
ORDER BY p.position;
