-- The trials of the cases of a run.
--
-- One row per trial, including warm-up, in the order of measuring.
--
-- plot: x=trial y=gbps|ns curve=process by=case scale=linear
--
-- narrow: elapsed_ns,iterations,ns_per_hop,status,ns,phase
--
-- :run (run, default latest) the run to show
-- :name (text, default *) glob of case names
SELECT
  t.case_name AS "case",
  t.process AS process,
  t.trial AS trial,
  t.phase AS phase,
  t.status AS status,
  t.iterations AS iterations,
  t.elapsed_ns AS elapsed_ns,
  t.ns AS ns,
  t.gbps AS gbps,
  t.ns_per_hop AS ns_per_hop
FROM v_trial t
WHERE t.run = :run AND t.case_name GLOB :name
ORDER BY t.case_run, t.trial;
