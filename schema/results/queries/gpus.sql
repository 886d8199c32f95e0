-- The GPUs of a run and their state while it measured.
--
-- One row per GPU: the extremes of clocks, power and temperature in the telemetry of the run; pcie is the
-- best state of the link. slowed_percent is the share of samples in which something kept the SM clock down
-- (power, heat or a fault; idling and clocks set by a user do not count), slowed_by lists the causes as NVML
-- names them.
--
-- columns: v_gpu
-- column memory_gib: (GiB) size of its memory
-- column pcie: best state of its PCIe link: generation and width
-- column gpu_uuid, gpu_pci_address: the card, and the slot that it is in
--
-- about: machine
--
-- narrow: numa_node,memory_gib,sm_clock_mhz_low,temperature_c_high,power_w_high,pcie,slowed_by,gpu_name,sm_clock_mhz_high
-- narrow: slowed_percent,gpu_pci_address
--
-- empty: the run found no GPU
--
-- :run (run, default latest) the run to show
SELECT
  'gpu' || g.gpu AS gpu,
  g.gpu_name AS gpu_name,
  g.numa_node AS numa_node,
  round(g.memory_bytes / 1073741824.0, 1) AS memory_gib,
  g.pcie_generation || ' x' || g.pcie_width AS pcie,
  CAST(g.sm_clock_mhz_low AS INTEGER) AS sm_clock_mhz_low,
  CAST(g.sm_clock_mhz_high AS INTEGER) AS sm_clock_mhz_high,
  round(g.power_w_high, 1) AS power_w_high,
  g.temperature_c_high AS temperature_c_high,
  round(g.slowed_percent, 1) AS slowed_percent,
  g.slowed_by AS slowed_by,
  g.gpu_pci_address AS gpu_pci_address,
  g.gpu_uuid AS gpu_uuid
FROM v_gpu g
WHERE g.run = :run
ORDER BY g.gpu;
