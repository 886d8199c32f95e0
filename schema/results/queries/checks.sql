-- The checks of a run.
--
-- One row per check and GPU: what the scenario wants of the machine, and what was found. A resumed run
-- checks again: the worst result is shown, and of equal ones the latest.
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
FROM (
  SELECT *, row_number() OVER (PARTITION BY check_name, gpu
    ORDER BY status = 'failed' DESC, status <> 'passed' DESC, checked_at DESC) AS place
  FROM v_check WHERE run = :run) k
WHERE k.place = 1
ORDER BY k.checked_at, k.check_name, k.gpu;
