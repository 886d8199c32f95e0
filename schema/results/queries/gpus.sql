-- The GPUs of a run and their state while it measured.
--
-- One row per GPU: the extremes of clocks, power and temperature in the telemetry of the run; pcie is the
-- best state of the link. slowed_pct is the share of samples in which something kept the SM clock down
-- (power, heat or a fault; idling and clocks set by a user do not count), slowed_by lists the causes as NVML
-- names them.
--
-- :run (run, default latest) the run to show
WITH
  sample AS (
    SELECT t.gpu,
      min(t.sm_clock_khz) / 1000 AS sm_clock_low, max(t.sm_clock_khz) / 1000 AS sm_clock_high,
      max(t.power_mw) / 1000.0 AS power, max(t.temperature_c) AS temperature,
      max(t.pcie_generation) AS generation, max(t.pcie_width) AS width,
      100.0 * avg((t.throttle_reasons & 252) <> 0) AS slowed,
      CASE WHEN max(t.throttle_reasons & 4) > 0 THEN ', sw_power_cap' ELSE '' END
      || CASE WHEN max(t.throttle_reasons & 8) > 0 THEN ', hw_slowdown' ELSE '' END
      || CASE WHEN max(t.throttle_reasons & 16) > 0 THEN ', sync_boost' ELSE '' END
      || CASE WHEN max(t.throttle_reasons & 32) > 0 THEN ', sw_thermal' ELSE '' END
      || CASE WHEN max(t.throttle_reasons & 64) > 0 THEN ', hw_thermal' ELSE '' END
      || CASE WHEN max(t.throttle_reasons & 128) > 0 THEN ', hw_power_brake' ELSE '' END AS reasons
    FROM telemetry t WHERE t.run = :run GROUP BY t.gpu)
SELECT
  'gpu' || d.number AS gpu,
  d.name AS name,
  d.numa_node AS numa_node,
  round(d.memory_bytes / 1073741824.0, 1) AS memory_gib,
  s.generation || ' x' || s.width AS pcie,
  s.sm_clock_low AS sm_mhz_low,
  s.sm_clock_high AS sm_mhz_high,
  round(s.power, 1) AS power_w_high,
  s.temperature AS celsius_high,
  round(s.slowed, 1) AS slowed_pct,
  nullif(substr(s.reasons, 3), '') AS slowed_by,
  d.pci_address AS pci_address,
  d.uuid AS uuid
FROM run r
JOIN device d ON d.environment = r.environment AND d.place = 'gpu'
LEFT JOIN sample s ON s.gpu = d.number
WHERE r.id = :run
ORDER BY d.number;
