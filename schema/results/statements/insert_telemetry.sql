-- A value that could not be read is -1. Two samples at one moment are one.
INSERT OR IGNORE INTO telemetry (
  run, gpu, at_ns, sm_clock_khz, memory_clock_khz, power_mw, temperature_c, utilization_percent,
  pcie_generation, pcie_width, throttle_reasons)
VALUES (
  :run, :gpu, :at_ns, nullif(:sm_clock_khz, -1), nullif(:memory_clock_khz, -1),
  nullif(:power_mw, -1), nullif(:temperature_c, -1), nullif(:utilization_percent, -1),
  nullif(:pcie_generation, -1), nullif(:pcie_width, -1), nullif(:throttle_reasons, -1));
