-- Latency and throughput of instructions by type.
--
-- One row per type: cycles from one dependent instruction to the next, and operations per clock and SM
-- (a packed half-precision instruction counts as two), in the latest run of arithmetic-latency. add of i32 is
-- what compilers make of sums, IADD3 and IMAD in turn; add3, a sum of three, is IADD3 alone, and fma IMAD alone.
--
-- of: arithmetic-latency
--
-- narrow: mul_per_clock_sm,add_per_clock_sm,mul_cycles,add_cycles,fma_per_clock_sm
--
-- :run (run, default null) the run to show; without it: the latest of arithmetic-latency
SELECT
  'gpu' || c.target_index AS gpu,
  c.number_type AS type,
  max(CASE WHEN c.block = 'latency' AND c.operation = 'fma' THEN c.cycles_per_op END) AS fma_cycles,
  max(CASE WHEN c.block = 'latency' AND c.operation = 'add' THEN c.cycles_per_op END) AS add_cycles,
  max(CASE WHEN c.block = 'latency' AND c.operation = 'mul' THEN c.cycles_per_op END) AS mul_cycles,
  max(CASE WHEN c.block = 'throughput' AND c.operation = 'fma' THEN c.ops_per_clock_sm END)
    AS fma_per_clock_sm,
  max(CASE WHEN c.block = 'throughput' AND c.operation = 'add' THEN c.ops_per_clock_sm END)
    AS add_per_clock_sm,
  max(CASE WHEN c.block = 'throughput' AND c.operation = 'mul' THEN c.ops_per_clock_sm END)
    AS mul_per_clock_sm,
  max(CASE WHEN c.operation = 'add3' AND c.measure = 'latency' THEN c.cycles_per_op END) AS add3_cycles,
  max(CASE WHEN c.operation = 'add3' AND c.measure = 'throughput' THEN c.ops_per_clock_sm END) AS add3_per_clock_sm
FROM v_run_case c
WHERE c.kind = 'arithmetic' AND c.block IN ('latency', 'throughput', 'integer')
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'arithmetic-latency'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
  AND c.target_index IS NOT NULL
GROUP BY c.target_index, c.number_type
ORDER BY c.target_index, c.number_type;
