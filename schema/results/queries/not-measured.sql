-- The cases of a run without a result, and why.
--
-- One row per reason: first failures (failed, crashed, hung, corrupt), then skipped cases. Reasons that differ in
-- numbers alone, as those of pairs of GPUs do, are one: the first, "and others like it". block is NULL if the cases are
-- from several blocks.
--
-- columns: v_case
-- column cases: number of cases
-- column blocks: number of blocks. NULL: one
-- column example: name of one case
-- column reason: why they have no result
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
  min(c.reason) || CASE WHEN count(DISTINCT c.reason) > 1 THEN ', and others like it' ELSE '' END AS reason,
  min(b.name) AS example
FROM (SELECT x.*, replace(replace(replace(replace(replace(x.reason, '0', '<>'), '1', '<>'), '2', '<>'), '3', '<>'), '4', '<>') AS half FROM case_run x) c JOIN bench_case b ON b.id = c.bench_case
WHERE c.run = :run AND c.status <> 'ok'
GROUP BY c.status, replace(replace(replace(replace(replace(replace(c.half, '5', '<>'), '6', '<>'), '7', '<>'), '8', '<>'), '9', '<>'), '><', '')
ORDER BY c.status = 'skipped', count(DISTINCT c.bench_case) DESC, c.status, min(c.reason);
