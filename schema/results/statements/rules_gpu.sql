-- Rules of haul explain about GPUs and their links; rules_host.sql and rules_run.sql have the others.
--
-- A rule is a section. Its comment has, each continued by lines that are further in:
--   finding:  what it is; it explains a loss. Or note: what is usual on some machines, and nothing to fix
--   reads:    where the evidence is recorded: "fact NAME", or VIEW.COLUMN
--   touches:  classes of the table touched (explain.sql) that it changes; "all"
--   costs:    by how much it usually changes them
--   action:   what to do
--   source:   who says so
-- It returns a row for everything that it looked at: gpu (NULL: the host), bad (1: found, 0: not, NULL: not known)
-- and evidence, the recorded values, in which a first word {cases} stands for how many cases of the run it touches; a
-- fourth column replaces touches. No row: it does not apply here.

-- name: pcie_link
-- finding: The PCIe link is slower or narrower than the GPU and the slot allow
-- reads: v_gpu.pcie_generation, v_gpu.pcie_width, v_gpu.pcie_generation_max, v_gpu.pcie_width_max
-- touches: host_link,peer_pcie
-- costs: Half the lanes, or one generation less, halves the rate.
-- action: Look for link errors: run nvidia-smi -q, and lspci -vv (LnkSta). Reseat the GPU or its riser. Compare the
--   settings of the slot in the firmware. An idle link may be slow: it speeds up under load.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html (nvmlDeviceGetMaxPcieLinkWidth:
--   possible with this device and system); https://docs.nvidia.com/deploy/nvidia-smi/index.html (PCI, GPU Link Info)
SELECT gpu,
  CASE
    WHEN c2c_bytes_per_second > 0 THEN 0
    WHEN loaded THEN generation < pcie_generation_max OR width < pcie_width_max
    WHEN generation >= pcie_generation_max THEN width < pcie_width_max
  END AS bad,
  coalesce(
    'gen' || generation || ' x' || width || ', best gen' || pcie_generation_max || ' x' || pcie_width_max
      || CASE WHEN loaded THEN ', the highest of ' || samples || ' samples' ELSE ', when it was idle' END,
    CASE
      WHEN EXISTS (SELECT 1 FROM touched t WHERE t.gpu = x.gpu AND t.class = 'host_link')
        THEN 'the run was too short for a sample of the link under load'
      WHEN EXISTS (SELECT 1 FROM touched) THEN 'no case of this run uses this link'
    END) AS evidence
FROM (
  SELECT g.*, 1 AS loaded, g.pcie_generation AS generation, g.pcie_width AS width
  FROM gpu g
  WHERE g.samples > 1
    AND EXISTS (SELECT 1 FROM touched t WHERE t.gpu = g.gpu AND t.class = 'host_link')
  UNION ALL
  SELECT g.*, 0, CAST(json_extract(g.facts, '$.pcie_generation') AS INTEGER),
    CAST(json_extract(g.facts, '$.pcie_width') AS INTEGER)
  FROM gpu g
  WHERE coalesce(g.samples, 0) < 2
    OR NOT EXISTS (SELECT 1 FROM touched t WHERE t.gpu = g.gpu AND t.class = 'host_link')) x;

-- name: far_node
-- finding: Host memory on another NUMA node than the GPU
-- reads: v_gpu.numa_node, v_flow.source, v_flow.target
-- touches: host_link
-- costs: The path crosses the link between the sockets. Latency grows, and bandwidth drops if that link is the
--   bottleneck, most of all with several GPUs at once.
-- action: Measure with numa = "local", or start programs with numactl --cpunodebind and --membind of the GPU's
--   node.
-- source: https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/index.html (NUMA best practices)
SELECT g.gpu,
  CASE WHEN h.node_count = 1 THEN 0 ELSE n.number <> g.numa_node END AS bad,
  'numa' || n.number || ', distance ' || l.distance || '; the GPU is at numa' || g.numa_node AS evidence,
  'numa' || n.number AS touches
FROM host h
JOIN gpu g
JOIN device n ON n.environment = h.environment AND n.place = 'numa'
LEFT JOIN link l ON l.environment = h.environment AND l.place = 'numa' AND l.source = g.numa_node
  AND l.target = n.number
WHERE EXISTS (SELECT 1 FROM touched t WHERE t.gpu = g.gpu AND t.class = 'numa' || n.number)
UNION ALL
SELECT g.gpu, n.cpu_count = 0 OR n.memory_bytes = 0,
  'numa' || n.number || ', nearest to the GPU, has ' || n.cpu_count || ' usable processors and '
    || n.memory_bytes || ' bytes', 'host_link'
FROM host h
JOIN gpu g
JOIN device n ON n.environment = h.environment AND n.place = 'numa' AND n.number = g.numa_node
WHERE h.run IS NULL AND h.node_count > 1;

-- name: acs
-- finding: ACS sends traffic between GPUs up to the root complex
-- reads: fact acs, fact pcie_path
-- touches: peer_pcie
-- costs: Traffic between GPUs over PCIe takes the switches' uplinks instead of staying within one switch. Most is
--   lost with several pairs at once. NVLink is not affected.
-- action: If no device is given to virtual machines, switch ACS redirection off on these bridges: in the firmware,
--   or as root with setpci -s ADDRESS ECAP_ACS+6.w=0, which lasts until the next boot. It removes the isolation
--   between the devices.
-- source: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (PCI Access Control
--   Services)
SELECT g.gpu, json_extract(g.facts, '$.acs') LIKE 'redirects%' AS bad,
  'acs = ' || json_extract(g.facts, '$.acs') AS evidence
FROM host h
JOIN gpu g
WHERE EXISTS (SELECT 1 FROM link l WHERE l.environment = h.environment AND l.place = 'gpu' AND l.source = g.gpu
              AND l.nvlink_count = 0);

-- name: peer_access
-- finding: No peer access: the driver stages copies between these GPUs in host memory
-- reads: link.peer_access
-- touches: peer
-- costs: At most the rate of the slower PCIe link to the host: on H200, 55 GB/s instead of 396 over NVLink. Kernels
--   cannot access the other GPU's memory at all.
-- action: Run nvidia-smi topo -p2p r, which shows the reason: MIG, another root complex, an IOMMU, or a driver that
--   does not allow it.
-- source: https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (Peer-to-Peer Memory Access)
SELECT g.gpu, min(l.peer_access) = 0 AS bad,
  'peer_access = 0 to ' || group_concat(CASE WHEN NOT l.peer_access THEN 'gpu' || l.target END, ', ') AS evidence
FROM host h
JOIN gpu g
JOIN link l ON l.environment = h.environment AND l.place = 'gpu' AND l.source = g.gpu
GROUP BY g.gpu;

-- name: nvlinks
-- finding: NVLinks are down
-- reads: v_gpu.nvlink_count
-- touches: peer
-- costs: Each link carries its share: 17 of 18 links reach 94 % of the rate.
-- action: Run nvidia-smi nvlink -s and nvidia-smi nvlink -e. Look in dmesg for Xid 74, then in the log of the
--   fabric manager.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (nvlink); counts of links: data sheets of the GPUs
SELECT g.gpu, g.nvlink_count < coalesce(u.links, p.links) AS bad,
  'nvlink_count = ' || g.nvlink_count || ', ' || CASE
    WHEN u.links IS NOT NULL THEN 'every ' || g.name || ' has ' || u.links
    ELSE 'another ' || g.name || ' here has ' || p.links END AS evidence
FROM host h
JOIN gpu g
JOIN (SELECT name, max(nvlink_count) AS links FROM gpu GROUP BY name) p ON p.name = g.name
LEFT JOIN (
  SELECT 'Tesla V100-SXM*' AS names, 6 AS links
  UNION ALL VALUES ('NVIDIA A100-SXM*', 12), ('NVIDIA H100*HBM3', 18), ('NVIDIA H20', 18), ('NVIDIA H200', 18),
    ('NVIDIA B200', 18), ('NVIDIA B300 SXM*', 18), ('NVIDIA GB200', 18), ('NVIDIA GB300', 18)) u
  ON g.name GLOB u.names
WHERE h.gpu_count > 1;

-- name: chip_to_chip
-- finding: The chip-to-chip link to the processor is down
-- reads: fact c2c
-- touches: host_link
-- costs: Traffic between GPU and host takes PCIe, at a fraction of the link's rate.
-- action: Run nvidia-smi c2c -s. Look in dmesg for Xid. Restart the node.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (c2c)
SELECT gpu, v = 'off' AS bad, 'c2c = ' || v AS evidence
FROM (SELECT gpu, name, json_extract(facts, '$.c2c') AS v FROM gpu)
-- NVML calls the link disabled where there is none, too (H200): who should have it shares a module with a processor.
WHERE name GLOB 'NVIDIA G[BH][23]00*' OR EXISTS (SELECT 1 FROM gpu g WHERE json_extract(g.facts, '$.c2c') = 'on');

-- name: fabric
-- finding: The GPU has not joined the NVLink switches
-- reads: fact fabric
-- touches: peer
-- costs: The GPU has no NVLink to other GPUs. On machines with NVLink switches, CUDA does not start until the
--   fabric manager is done.
-- action: Run systemctl status nvidia-fabricmanager. Its version must be that of the driver. Run nvidia-smi -q -d
--   FABRIC.
-- source: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html;
--   https://docs.nvidia.com/deploy/nvml-api/structnvmlGpuFabricInfo__t.html
SELECT gpu, v NOT IN ('completed', 'none') AS bad, 'fabric = ' || v AS evidence
FROM (SELECT gpu, json_extract(facts, '$.fabric') AS v FROM gpu);

-- name: power_limit
-- finding: The power limit is below the default
-- reads: fact power_limit, fact power_limit_default
-- touches: gpu_memory,gpu_clock
-- costs: Copies over links need little power. Kernels that are limited by SMs or memory slow down once the limit is
--   reached (throttled by sw_power_cap).
-- action: If cooling and power supply allow it, run nvidia-smi -pl WATTS as root.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (Power Readings)
SELECT gpu, v < standard AS bad, 'power_limit = ' || v || ' mW, power_limit_default = ' || standard || ' mW' AS evidence
FROM (SELECT gpu, CAST(json_extract(facts, '$.power_limit') AS INTEGER) AS v,
        CAST(json_extract(facts, '$.power_limit_default') AS INTEGER) AS standard FROM gpu);

-- name: throttled_power
-- finding: Throttled at the power limit
-- reads: v_telemetry.throttle_reasons, v_case.slowed_by
-- touches: gpu_memory,gpu_clock
-- costs: Kernels that are limited by SMs slow down with the SM clock. Copies by copy engines lose nothing.
-- action: Compare with GPUs at the same power_limit. Throttling is usual for kernels that fill the GPU.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html (SwPowerCap)
SELECT g.gpu,
  CASE WHEN t.slowed THEN 1 WHEN t.throttled = 0 OR g.other_processes IS NOT NULL THEN 0 END AS bad,
  t.evidence AS evidence,
  t.class AS touches
FROM gpu g
LEFT JOIN throttling t ON t.gpu = g.gpu AND t.name = 'sw_power_cap'
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: throttled_heat
-- finding: Throttled by heat
-- reads: v_telemetry.throttle_reasons, v_telemetry.temperature_c, v_case.slowed_by
-- touches: gpu_memory,gpu_clock
-- costs: hw_thermal at least halves the clocks. sw_thermal lowers them as far as needed.
-- action: Check inlet temperature, fans, dust and the position in the chassis. nvidia-smi -q -d TEMPERATURE shows
--   the limits.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html (thermal slowdowns)
SELECT g.gpu,
  CASE WHEN t.slowed THEN 1 WHEN t.throttled = 0 OR g.other_processes IS NOT NULL THEN 0 END AS bad,
  t.evidence || ', up to '
    || (SELECT max(temperature_c) FROM telemetry WHERE run = (SELECT run FROM explained) AND gpu = g.gpu)
    || ' degrees C' AS evidence,
  t.class AS touches
FROM gpu g
LEFT JOIN throttling t ON t.gpu = g.gpu AND t.name IN ('sw_thermal', 'hw_thermal')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: throttled_hardware
-- finding: Throttled by the hardware: power brake or slowdown
-- reads: v_telemetry.throttle_reasons, v_case.slowed_by
-- touches: gpu_memory,gpu_clock
-- costs: Clocks fall to a half or less at once.
-- action: Check the power supplies and their cables, then the power brake of the board. If hw_thermal comes with
--   hw_slowdown, check the cooling first.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html (HwSlowdown, HwPowerBrake)
SELECT g.gpu,
  CASE WHEN t.slowed THEN 1 WHEN t.throttled = 0 OR g.other_processes IS NOT NULL THEN 0 END AS bad,
  t.evidence AS evidence,
  t.class AS touches
FROM gpu g
LEFT JOIN throttling t ON t.gpu = g.gpu AND t.name IN ('hw_slowdown', 'hw_power_brake', 'sync_boost')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: gpu_clocks
-- finding: Application clocks are not the default ones
-- reads: fact gpu_clocks
-- touches: gpu_memory,gpu_clock
-- costs: Kernels that are limited by SMs change with the ratio of the clocks. Copies by copy engines do not change.
-- action: Run nvidia-smi -rac as root, which resets them.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (Applications Clocks)
SELECT gpu, v = 'locked' AS bad, 'gpu_clocks = ' || v AS evidence
FROM (SELECT gpu, json_extract(facts, '$.gpu_clocks') AS v FROM gpu);

-- name: gpu_in_use
-- finding: Another program uses the GPU
-- reads: v_case.slowed_by, v_telemetry.other_processes
-- touches: shared
-- costs: The programs share links, copy engines, SMs and memory. Beside one other program that does the same, half
--   of the rate is left.
-- action: Wait for it to end, or end it, and measure again. haul run --wait waits for other runs, and
--   measure.idle_wait for any program.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceQueries.html (running processes, utilization)
SELECT g.gpu,
  CASE
    WHEN EXISTS (SELECT 1 FROM touched t WHERE t.gpu = g.gpu AND t.class = 'shared') THEN 1
    WHEN h.run IS NOT NULL THEN CASE WHEN g.other_processes IS NOT NULL THEN 0 END
    ELSE processes > 0 OR busy >= (SELECT busy_percent FROM explained)
  END AS bad,
  CASE WHEN h.run IS NULL THEN 'process_count = ' || processes || ', utilization_percent = ' || busy
    ELSE (SELECT replace(v.text, 'gpu' || g.gpu || ' ', '') FROM touched t
          JOIN case_run c ON c.bench_case = t.bench_case AND c.run = h.run
          JOIN v_note v ON v.case_run = c.id AND v.slows AND v.gpu = g.gpu AND v.kind <> 'throttled'
          WHERE t.gpu = g.gpu AND t.class = 'shared' LIMIT 1) END AS evidence
FROM host h
JOIN (SELECT *, CAST(json_extract(facts, '$.process_count') AS INTEGER) AS processes,
        CAST(json_extract(facts, '$.utilization_percent') AS INTEGER) AS busy FROM gpu) g;

-- name: mig
-- finding: Multi-instance mode is on
-- reads: fact mig
-- touches: all
-- costs: An instance has a share of the SMs, memory and copy engines, and no peer access.
-- action: If nobody uses the GPU, run nvidia-smi -mig 0 as root. Otherwise compare only with instances of the same
--   kind.
-- source: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/index.html
SELECT gpu, v = 'on' AS bad, 'mig = ' || v AS evidence
FROM (SELECT gpu, coalesce(json_extract(facts, '$.mig'),
        CASE WHEN (SELECT f.value FROM environment_fact f WHERE f.environment = (SELECT environment FROM explained)
                   AND f.name = 'mig' AND f.gpu = g.gpu AND f.state = 'unavailable') = 'Not Supported'
          THEN 'not supported' END) AS v FROM gpu g);

-- name: resizable_bar
-- finding: Other devices can address only a part of the GPU's memory at a time
-- reads: fact bar1_bytes, v_gpu.memory_bytes
-- touches: peer_pcie
-- costs: Traffic between GPUs over PCIe goes through a small window, or through the host. NVLink and copies to and
--   from the host are not affected.
-- action: Switch on Above 4G Decoding and Resizable BAR in the firmware. nvidia-smi -q -d MEMORY shows BAR1.
-- source: https://docs.nvidia.com/cuda/gpudirect-rdma/index.html (BAR sizes)
SELECT g.gpu, v < g.memory_bytes AS bad, 'bar1_bytes = ' || v || ', memory_bytes = ' || g.memory_bytes AS evidence
FROM host h
JOIN (SELECT *, CAST(json_extract(facts, '$.bar1_bytes') AS INTEGER) AS v FROM gpu) g
WHERE EXISTS (SELECT 1 FROM link l WHERE l.environment = h.environment AND l.place = 'gpu' AND l.source = g.gpu
              AND l.nvlink_count = 0);

-- name: ecc
-- note: Memory is protected by ECC
-- reads: fact ecc
-- touches: gpu_memory
-- costs: Nothing measurable with HBM, a few per cent of the bandwidth with GDDR.
-- action: None.
-- source: https://images.nvidia.com/content/pdf/tesla/whitepaper/pascal-architecture-whitepaper.pdf (ECC of HBM2)
SELECT gpu, v = 'on' AS bad, 'ecc = ' || v AS evidence
FROM (SELECT gpu, json_extract(facts, '$.ecc') AS v FROM gpu);

-- name: persistence
-- note: Persistence mode is off: the driver releases the GPU when nobody uses it
-- reads: fact persistence
-- touches: all
-- costs: The first program waits 1 to 3 s per GPU. Results are not affected, because a context is open while haul
--   measures.
-- action: Start nvidia-persistenced.
-- source: https://docs.nvidia.com/deploy/driver-persistence/index.html
SELECT gpu, v = 'off' AS bad, 'persistence = ' || v AS evidence
FROM (SELECT gpu, json_extract(facts, '$.persistence') AS v FROM gpu);
