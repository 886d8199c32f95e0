-- Rules of haul explain about the host: see rules_gpu.sql.

-- name: iommu
-- finding: The IOMMU translates what GPUs read and write in host memory
-- reads: fact iommu
-- touches: host_link,peer_pcie
-- costs: The IOMMU translates each access of a GPU to host memory. Copies of large pinned buffers may lose nothing,
--   small and scattered copies lose more. Traffic between GPUs over PCIe goes through the root complex instead of
--   the nearest switch.
-- action: If no device is given to virtual machines, boot with iommu=pt (x86) or iommu.passthrough=1 (Arm), or
--   switch the IOMMU off.
-- source: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html (ACS, IO virtualization);
--   https://docs.kernel.org/admin-guide/kernel-parameters.html (iommu)
SELECT NULL AS gpu, v LIKE 'translated%' OR v LIKE 'mixed%' AS bad, 'iommu = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.iommu') AS v FROM host WHERE gpu_count > 0);

-- name: confidential_compute
-- finding: Confidential computing encrypts what crosses PCIe
-- reads: fact confidential_compute
-- touches: host_link,peer
-- costs: Copies go through an encrypted buffer in host memory, far below the rate of the link, because processors
--   encrypt it. Between GPUs it depends on the mode.
-- action: Compare only with other confidential machines. nvidia-smi conf-compute -f shows the mode.
-- source: https://docs.nvidia.com/confidential-computing/release-notes/r570-trd1.md
SELECT NULL AS gpu, v = 'on' AS bad, 'confidential_compute = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.confidential_compute') AS v FROM host WHERE gpu_count > 0);

-- name: numa_policy
-- finding: This process may not choose the NUMA node of its memory
-- reads: fact numa_policy, fact container, v_run.node_count
-- touches: host_link,host_memory,pageable,managed
-- costs: Linux puts buffers where it likes: on a host with two nodes, half of them on the far one.
-- action: Give the container CAP_SYS_NICE, or a seccomp profile that allows mbind, set_mempolicy and get_mempolicy.
-- source: https://docs.docker.com/engine/security/seccomp/ (calls that the default profile blocks)
SELECT NULL AS gpu, v = 'refused' AND node_count > 1 AS bad,
  coalesce('numa_policy = ' || v || ', ', '') || node_count || CASE node_count WHEN 1 THEN ' node' ELSE ' nodes' END
    || coalesce(', container = ' || json_extract(facts, '$.container'), '') AS evidence
FROM (SELECT json_extract(facts, '$.numa_policy') AS v, facts, node_count FROM host);

-- name: numa_balancing
-- finding: Linux moves pages between NUMA nodes while they are in use
-- reads: fact numa_balancing, v_run.node_count
-- touches: host_memory,pageable,managed
-- costs: Linux unmaps pages now and then to see who uses them. It leaves page-locked memory and memory bound
--   to a node alone. Pageable copies and unified memory vary more.
-- action: Run sysctl kernel.numa_balancing=0 as root, or boot with numa_balancing=disable.
-- source: https://docs.kernel.org/admin-guide/sysctl/kernel.html (numa_balancing);
--   https://nvidia.github.io/grace-cpu-benchmarking-guide/platform/index.html
SELECT NULL AS gpu, v = 'on' AND node_count > 1 AS bad,
  'numa_balancing = ' || v || ', ' || node_count || CASE node_count WHEN 1 THEN ' node' ELSE ' nodes' END AS evidence
FROM (SELECT json_extract(facts, '$.numa_balancing') AS v, node_count FROM host);

-- name: governor
-- finding: Processors do not run at full frequency right away
-- reads: fact governor
-- touches: host_memory,pageable,host_call
-- costs: Work of host threads (pageable copies, calls of the driver) starts slower and varies more. Copies of
--   pinned memory are not affected.
-- action: Run cpupower frequency-set -g performance as root.
-- source: https://docs.kernel.org/admin-guide/pm/cpufreq.html (generic scaling governors)
SELECT NULL AS gpu, v <> 'performance' AS bad, 'governor = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.governor') AS v FROM host);

-- name: turbo
-- finding: Processors are kept at their base frequency
-- reads: fact turbo
-- touches: host_memory,pageable,host_call
-- costs: Work of host threads is slower, by up to the ratio of boost to base frequency.
-- action: As root, write 0 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 1 to
--   /sys/devices/system/cpu/cpufreq/boost. If neither file is there, change the setting in the firmware.
-- source: https://docs.kernel.org/admin-guide/pm/cpufreq.html (frequency boost support)
SELECT NULL AS gpu, v = 'off' AS bad, 'turbo = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.turbo') AS v FROM host);

-- name: huge_pages
-- finding: Transparent huge pages are off
-- reads: fact huge_pages
-- touches: host_memory,pageable,managed
-- costs: Host threads miss the TLB more often, and the first touch of memory handles only 4 KiB at a time. Pageable
--   copies and unified memory lose, copies of pinned memory do not.
-- action: As root, write madvise to /sys/kernel/mm/transparent_hugepage/enabled.
-- source: https://docs.kernel.org/admin-guide/mm/transhuge.html
SELECT NULL AS gpu, v = 'never' AS bad, 'huge_pages = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.huge_pages') AS v FROM host);

-- name: page_size
-- finding: Linux uses 4 KiB pages where GPU and processor share page tables
-- reads: fact page_size, v_gpu.c2c_gbps
-- touches: host_link,host_memory,pageable,managed
-- costs: A chip-to-chip link translates sixteen times as many pages as with 64 KiB: more TLB misses and page faults.
-- action: Install the Linux kernel with 64 KiB pages (linux-image-nvidia-64k).
-- source: https://docs.nvidia.com/grace-perf-tuning-guide/os-settings.html (page size)
SELECT NULL AS gpu, v < 65536 AS bad, 'page_size = ' || v || ' bytes, chip-to-chip link' AS evidence
FROM (SELECT CAST(json_extract(facts, '$.page_size') AS INTEGER) AS v FROM host
      WHERE EXISTS (SELECT 1 FROM gpu WHERE c2c_bytes_per_second > 0));

-- name: virtual_machine
-- note: This is a virtual machine
-- reads: fact hypervisor
-- touches: all
-- costs: Nothing, if the host pins processors and memory: virtual machines with GPUs passed through are as fast as
--   bare metal. Facts about power, IOMMU, ACS and frequencies are those of the guest.
-- action: None. If nothing else explains a loss, ask the operator of the host.
-- source: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html (full passthrough)
SELECT NULL AS gpu, v <> 'none' AS bad, 'hypervisor = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.hypervisor') AS v FROM host);

-- name: smt
-- note: Several logical processors per core
-- reads: fact smt
-- touches: host_memory,pageable,host_call
-- costs: Nothing measurable for copies by a GPU. haul puts the host threads of a case on cores of their own.
-- action: None.
-- source: https://docs.kernel.org/admin-guide/kernel-parameters.html (nosmt)
SELECT NULL AS gpu, v = 'on' AS bad, 'smt = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.smt') AS v FROM host);

-- name: memlock
-- note: This user may lock little memory
-- reads: fact memlock_limit
-- touches: host_link
-- costs: Nothing here, because page-locked memory of the driver does not count. RDMA and mlock() of other programs
--   fail.
-- action: If programs beside CUDA register memory, set ulimit -l unlimited.
-- source: https://man7.org/linux/man-pages/man2/getrlimit.2.html (RLIMIT_MEMLOCK)
SELECT NULL AS gpu, v <> 'unlimited' AND CAST(v AS INTEGER) < 1073741824 AS bad,
  CASE v
    WHEN 'unlimited' THEN 'memlock_limit = unlimited'
    ELSE printf('this user may lock %g MiB: enough for haul, RDMA may need more', CAST(v AS INTEGER) / 1048576.0)
  END AS evidence
FROM (SELECT json_extract(facts, '$.memlock_limit') AS v FROM host);

-- name: gpus_lost
-- finding: A GPU on the PCI bus does not answer the driver
-- reads: fact gpus_lost
-- touches: all
-- costs: haul cannot measure it. A GPU that fell off the bus often takes the NVLinks of others with it.
-- action: Look in dmesg for Xid 79 or "fallen off the bus". Run lspci -d 10de:. Drain the node, and reset or reseat
--   the GPU.
-- source: https://docs.nvidia.com/deploy/xid-errors/index.html (Xid 79)
SELECT NULL AS gpu, CAST(v AS INTEGER) > 0 AS bad, 'gpus_lost = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.gpus_lost') AS v FROM host);

-- name: gpus_hidden
-- note: This run did not see all GPUs of the machine
-- reads: fact gpus_hidden
-- touches: all
-- costs: Nothing by itself. Programs on the hidden GPUs share links, switches and host memory with the measured
--   ones.
-- action: To see them, unset CUDA_VISIBLE_DEVICES, or start the container with all GPUs.
-- source: https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (CUDA_VISIBLE_DEVICES)
SELECT NULL AS gpu, CAST(v AS INTEGER) > 0 AS bad, 'gpus_hidden = ' || v AS evidence
FROM (SELECT json_extract(facts, '$.gpus_hidden') AS v FROM host WHERE gpu_count > 0);
