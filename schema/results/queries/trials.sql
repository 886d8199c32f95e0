-- The trials of the cases of a run.
--
-- One row per trial, including warm-up, in the order of measuring. start_ns is since the first trial of the case; visit
-- counts the times at which a noisy case was measured.
--
-- plot: x=trial y=gbps|ns curve=process by=case_name scale=linear
--
-- columns: v_trial
-- column visit: number of the visit: a noisy case is measured several times
--
-- about: results
--
-- narrow: visit,start_ns,elapsed_ns,iterations,ns_per_hop,status,ns,phase
--
-- empty: the run has no trials; haul prune may have deleted them
--
-- :run (run, default latest) the run to show
-- :name (text, default *) glob of case names
SELECT
  t.case_name AS case_name,
  t.process AS process,
  t.trial AS trial,
  t.phase AS phase,
  t.status AS status,
  t.visit AS visit,
  t.start_ns AS start_ns,
  t.iterations AS iterations,
  t.elapsed_ns AS elapsed_ns,
  t.ns AS ns,
  t.gbps AS gbps,
  t.ns_per_hop AS ns_per_hop
FROM v_trial t
WHERE t.run = :run AND t.case_name GLOB :name
ORDER BY t.case_run, t.trial;
