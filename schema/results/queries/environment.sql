-- The machine and the software that a run was made on.
--
-- One row per fact and GPU. If a fact has no value, value gives the reason.
--
-- columns: v_fact
--
-- about: machine
--
-- narrow: state,gpu
--
-- empty: nothing is known of the machine of the run
--
-- :run (run, default latest) the run to show
SELECT
  f.fact AS fact,
  f.gpu AS gpu,
  f.state AS state,
  coalesce(f.value, f.reason) AS value
FROM v_fact f
WHERE f.run = :run
ORDER BY f.gpu, f.fact;
