-- Throughput of single-precision FMA by chains and threads.
--
-- One row per number of threads on every SM, one column per number of independent chains of a thread:
-- operations per clock and SM, in the latest run of arithmetic-latency.
--
-- of: arithmetic-latency
--
-- plot: x=threads y=ilp_1,ilp_2,ilp_4,ilp_8 by=gpu unit=operations/clock/SM scale=semilog
--
-- narrow: ilp_2,ilp_4,ilp_1
--
-- :run (run, default null) the run to show; without it: the latest of arithmetic-latency
SELECT
  'gpu' || c.target_index AS gpu,
  c.block_threads AS threads,
  max(CASE WHEN c.ilp = 1 THEN c.ops_per_clock_sm END) AS ilp_1,
  max(CASE WHEN c.ilp = 2 THEN c.ops_per_clock_sm END) AS ilp_2,
  max(CASE WHEN c.ilp = 4 THEN c.ops_per_clock_sm END) AS ilp_4,
  max(CASE WHEN c.ilp = 8 THEN c.ops_per_clock_sm END) AS ilp_8
FROM v_run_case c
WHERE c.kind = 'arithmetic' AND c.block = 'occupancy' AND c.target_index IS NOT NULL
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'arithmetic-latency'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
GROUP BY c.target_index, c.block_threads
ORDER BY c.target_index, c.block_threads;
