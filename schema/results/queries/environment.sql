-- The machine and the software that a run was made on.
--
-- One row per fact and GPU. If a fact has no value, value gives the reason.
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
