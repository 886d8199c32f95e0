-- The machine and its software under which a run was made.
--
-- One row a fact and GPU; where there is no answer, the value says why.
--
-- :run (run, default latest) the run to show
SELECT
  f.name AS fact,
  nullif(f.gpu, -1) AS gpu,
  f.state AS state,
  f.value AS value
FROM run r JOIN environment_fact f ON f.environment = r.environment
WHERE r.id = :run
ORDER BY f.gpu, f.name;
