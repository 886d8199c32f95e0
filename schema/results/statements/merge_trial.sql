-- The large tables, row by row, in the order in which they lie in both files.
INSERT INTO main.flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
SELECT x.output, f.flow, f.n, f.median_ns, f.p5_ns, f.p95_ns
FROM temp.merge_case_run x
CROSS JOIN input.flow_run f ON f.case_run = x.input;

INSERT INTO main.trial (
  case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles)
SELECT
  x.output, t.ordinal, t.phase, t.status, t.iterations, t.start_ns, t.elapsed_ns, t.cycles
FROM temp.merge_case_run x
CROSS JOIN input.trial t ON t.case_run = x.input;

INSERT INTO main.flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns)
SELECT x.output, t.ordinal, t.flow, t.start_ns, t.elapsed_ns
FROM temp.merge_case_run x
CROSS JOIN input.flow_trial t ON t.case_run = x.input;

INSERT INTO main.telemetry (
  run, gpu, at_ns, sm_clock_khz, memory_clock_khz, power_mw, temperature_c, utilization_percent,
  pcie_generation, pcie_width, throttle_reasons)
SELECT
  r.output, t.gpu, t.at_ns, t.sm_clock_khz, t.memory_clock_khz, t.power_mw, t.temperature_c,
  t.utilization_percent, t.pcie_generation, t.pcie_width, t.throttle_reasons
FROM temp.merge_run r
CROSS JOIN input.telemetry t ON t.run = r.input
WHERE true
ON CONFLICT (run, gpu, at_ns) DO NOTHING;
