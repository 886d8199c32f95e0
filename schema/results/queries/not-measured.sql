-- The cases of a run without a result, and why.
--
-- One row per reason: first failures (failed, crashed, hung, corrupt), then skipped cases. block is NULL if
-- the cases are from several blocks.
--
-- about: results
--
-- narrow: blocks,example
--
-- empty: every case of the run has a result
--
-- :run (run, default latest) the run to show
SELECT
  c.status AS status,
  count(DISTINCT c.bench_case) AS cases,
  CASE WHEN count(DISTINCT b.block) = 1 THEN min(b.block) END AS block,
  nullif(count(DISTINCT b.block), 1) AS blocks,
  c.reason AS reason,
  min(b.name) AS example
FROM case_run c JOIN bench_case b ON b.id = c.bench_case
WHERE c.run = :run AND c.status <> 'ok'
GROUP BY c.status, c.reason
ORDER BY c.status = 'skipped', count(DISTINCT c.bench_case) DESC, c.status, c.reason;
