-- The checks of a run.
--
-- One row per check and GPU: what the scenario wants of the machine, and what was found.
--
-- columns: v_check
-- column check: name of the check, as in `[checks]`
--
-- about: machine
--
-- narrow: on_unknown,on_fail,want
--
-- empty: the scenario of the run has no [checks]
--
-- :run (run, default latest) the run to show
SELECT
  k.check_name AS "check",
  k.gpu AS gpu,
  k.status AS status,
  k.want AS want,
  k.found AS found,
  k.on_fail AS on_fail,
  k.on_unknown AS on_unknown
FROM v_check k
WHERE k.run = :run
ORDER BY k.checked_at, k.check_name, k.gpu;
