-- The cases of a run without a result, and why.
--
-- One row per reason: first failures (failed, crashed, hung, corrupt), then cases that the run did not measure, because
-- it was stopped, was killed or has not ended, then skipped cases. Reasons that differ in numbers alone, as those of
-- pairs of GPUs do, are one: the first, "and others like it". block is NULL if the cases are from several blocks.
--
-- columns: v_case
-- column status: that of the cases, or `not measured`
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
FROM (
  SELECT x.*, replace(replace(replace(replace(replace(x.reason, '0', '<>'), '1', '<>'), '2', '<>'), '3', '<>'), '4', '<>') AS half
  FROM (
    SELECT bench_case, status, reason FROM case_run WHERE run = :run AND status <> 'ok'
    UNION ALL
    SELECT p.bench_case, 'not measured',
      CASE WHEN m.results > 0 THEN printf('in %d of %d processes: ', r.processes - m.results, r.processes) ELSE '' END
      || CASE r.status WHEN 'running' THEN 'the run was killed, or has not ended' ELSE coalesce(r.reason, 'the run was stopped') END
    FROM plan_case p JOIN run r ON r.id = p.run
    LEFT JOIN (
      SELECT bench_case, count(*) AS results, max(process IS NULL) AS is_skipped
      FROM case_run WHERE run = :run GROUP BY bench_case) m ON m.bench_case = p.bench_case
    WHERE p.run = :run
      AND (m.results IS NULL OR (r.status <> 'done' AND NOT m.is_skipped AND m.results < r.processes))) x) c
JOIN bench_case b ON b.id = c.bench_case
GROUP BY c.status, replace(replace(replace(replace(replace(replace(c.half, '5', '<>'), '6', '<>'), '7', '<>'), '8', '<>'), '9', '<>'), '><', '')
ORDER BY c.status = 'skipped', c.status = 'not measured', count(DISTINCT c.bench_case) DESC, c.status, min(c.reason);
