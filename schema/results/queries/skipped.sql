-- The cases that a run skipped, and why.
--
-- One row per block and reason, with one of the cases as an example.
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
  c.reason AS reason,
  count(*) AS cases,
  min(c.case_name) AS example
FROM v_case c
WHERE c.run = :run AND c.status = 'skipped'
GROUP BY c.block, c.reason
ORDER BY min(c.position);
