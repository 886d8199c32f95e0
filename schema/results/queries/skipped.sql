-- The cases that a run skipped, and why.
--
-- One row per block and reason, with one of the cases as an example. Reasons that differ in numbers alone, as those of
-- pairs of GPUs do, are one: the first, "and others like it".
--
-- columns: v_case
-- column cases: number of cases
-- column example: name of one of them
-- column reason: why they were skipped
--
-- about: results
--
-- narrow: example
--
-- empty: no case of the run was skipped
--
-- :run (run, default latest) the run to show
SELECT
  c.block AS block,
  min(c.reason) || CASE WHEN count(DISTINCT c.reason) > 1 THEN ', and others like it' ELSE '' END AS reason,
  count(*) AS cases,
  min(c.case_name) AS example
FROM (SELECT x.*, replace(replace(replace(replace(replace(x.reason, '0', '<>'), '1', '<>'), '2', '<>'), '3', '<>'), '4', '<>') AS half FROM v_case x) c
WHERE c.run = :run AND c.status = 'skipped'
GROUP BY c.block, replace(replace(replace(replace(replace(replace(c.half, '5', '<>'), '6', '<>'), '7', '<>'), '8', '<>'), '9', '<>'), '><', '')
ORDER BY min(c.position);
