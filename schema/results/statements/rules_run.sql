-- Rules of haul explain about the results of a run: see rules_gpu.sql. Without a run they have no row.

-- name: shared_uplink
-- finding: GPUs share an uplink to the host: at once they are slower than one by one
-- reads: v_run_case.gbps, fact pcie_path, fact hypervisor
-- touches: at_once
-- costs: Two GPUs behind one uplink of a switch get half of it each.
-- action: Compare nvidia-smi topo -m with pcie_path of the GPUs. Use GPUs with uplinks of their own for copies at
--   the same time.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (topo); the results themselves
SELECT NULL AS gpu, uplink IS NOT NULL AS bad, evidence || coalesce('; ' || uplink, '') AS evidence,
  'at_once' AS touches
FROM at_once;

-- name: host_at_once
-- note: Several GPUs at once are slower than one by one, and are not known to share an uplink
-- reads: v_run_case.gbps, fact memory_peak, fact pcie_path
-- touches: at_once
-- costs: The memory of one NUMA node serves all of its GPUs: four H200s write 141 GB/s to it at once, and 55 each
--   alone.
-- action: None. To tell host memory from an uplink, measure pairs of GPUs. If pairs with a common uplink are slower
--   than other pairs, it is the uplink. If all pairs are alike, it is the memory.
-- source: measured on four H200, r580: haul run nvbandwidth --only all_to_host_memcpy_ce,device_to_host_memcpy_ce
SELECT NULL AS gpu, slow AND uplink IS NULL AS bad,
  evidence || coalesce('; memory_peak = ' || round(memory_peak / 1e9, 1) || ' GB/s of '
      || CASE h.node_count WHEN 1 THEN '1 node' ELSE h.node_count || ' nodes together' END, '')
    || coalesce('; ' || way, '') AS evidence,
  'at_once' AS touches
FROM at_once
JOIN (SELECT node_count, CAST(json_extract(facts, '$.memory_peak') AS INTEGER) AS memory_peak FROM host) h;

-- name: cold_process
-- finding: The first process is slower than those after it
-- reads: v_case.process, v_case.median_ns
-- touches: all
-- costs: The first process is a few per cent slower, because GPU, memory and driver wake up. haul diff does not
--   leave it out.
-- action: Measure with more processes, or measure one case before the run (haul run --only). Start
--   nvidia-persistenced.
-- source: the results themselves
WITH
  value AS (
    SELECT c.bench_case, p.ordinal, c.median_ns FROM case_run c JOIN process p ON p.id = c.process
    WHERE c.run = (SELECT run FROM explained) AND c.status = 'ok' AND c.median_ns IS NOT NULL),
  pair AS (
    SELECT f.median_ns / (SELECT max(o.median_ns) FROM value o WHERE o.bench_case = f.bench_case AND o.ordinal > 0)
      AS ratio
    FROM value f
    WHERE f.ordinal = 0
      AND (SELECT count(*) FROM value o WHERE o.bench_case = f.bench_case AND o.ordinal > 0) > 1)
SELECT NULL AS gpu, CASE WHEN cases > 0 THEN 2 * slow > cases END AS bad,
  CASE WHEN cases > 0 THEN slow || ' of ' || cases || ' cases took 1 % longer in the first process than in any other'
    ELSE 'fewer than three processes' END AS evidence
FROM (SELECT count(*) AS cases, sum(ratio > 1.01) AS slow FROM pair)
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: pageable_ungated
-- note: Copies of pageable memory are measured from the call on
-- reads: v_case.gated
-- touches: pageable_ungated
-- costs: The driver copies through a buffer of its own and blocks the caller, so that no gate can hold the copy.
--   The time includes the call, a few us. Pinned memory is three to six times as fast.
-- action: None. Compare only with other pageable cases.
-- source: https://docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html
SELECT NULL AS gpu, n > 0 AS bad, '{cases} of pageable memory include the time of the driver call' AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'pageable_ungated')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: beside_kernel
-- note: Copies by kernels take SMs and memory from a kernel that computes
-- reads: v_run_case.tflops, v_flow.method
-- touches: beside_kernel
-- costs: Beside copies between host and GPU, a matrix product keeps 98 % of its rate if a copy engine copies, and 4
--   % if a kernel copies. Beside copies within the GPU, which are always kernels, it keeps 29 to 38 %. The copies
--   lose at most 10 % between host and GPU, and 12 to 43 % within the GPU.
-- action: Use copy engines beside computation (method = "ce"), or give the copying kernel few blocks.
-- source: measured on two H100, r580: haul run interference; haul query --saved interference-matrix
SELECT NULL AS gpu, n > 0 AS bad, '{cases}' AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'beside_kernel')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: small_copies
-- note: Copies below 32 KiB are limited by the time per copy, not by their bytes
-- reads: v_run_case.size_bytes, v_run_case.median_ns
-- touches: small_copy
-- costs: A copy takes at least 2 to 5 us, whatever its size. So copies of 4 KiB reach only 1.8 GB/s. The driver also
--   copies small sizes in other ways than large ones, so a curve over sizes has steps.
-- action: None. Copy more at once.
-- source: measured on H200, r580: a copy of 4 B takes 5.1 us alone, and 2.3 us as one of 64 in a row
SELECT NULL AS gpu, n > 0 AS bad, '{cases} below 32 KiB' AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'small_copy')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: small_batches
-- note: Batches of copies from the host in pieces below 32 KiB take another path through the driver
-- reads: v_flow.submit, v_flow.piece_bytes, v_case.gbps_low, v_case.gbps_high
-- touches: small_batch
-- costs: Pieces of 16 KiB reach 3.9 GB/s, pieces of 32 KiB 21.8 GB/s. From GPU to host there is no such step.
-- action: Use pieces of 32 KiB and more, or a kernel (method sm), which reaches 50 GB/s with both.
-- source: measured on H200, r580: haul run scattered-copies --only 'host_by_*'
SELECT NULL AS gpu, n > 0 AS bad, '{cases}' AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'small_batch')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: serialised
-- note: Flows of a case ran one after the other
-- reads: v_case.serialised
-- touches: serialised
-- costs: All flows together reach the rate of one, because they wait for each other.
-- action: Use fewer flows per copy engine at once. Kernels (method sm) run side by side.
-- source: docs/ARCHITECTURE.md (the life of a trial)
SELECT NULL AS gpu, n > 0 AS bad, 'serialised = 1 in ' || n || CASE n WHEN 1 THEN ' case' ELSE ' cases' END AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'serialised')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: rate_step
-- note: A rate falls from one size to the next
-- reads: v_step
-- touches: rate_step
-- costs: The rate falls by more than a fifth. Beyond the size of a cache it is the rate of memory. Elsewhere, the
--   driver or the hardware copies in another way from that size on.
-- action: Measure the sizes around it. haul query --saved steps lists all steps. Compare with graph = true or
--   false, and with another method.
-- source: the results themselves
SELECT NULL AS gpu, n > 0 AS bad,
  coalesce(text || CASE n WHEN 1 THEN '' ELSE '; ' || (n - 1) || ' more' END, 'no rate falls') AS evidence
FROM (SELECT (SELECT count(*) FROM stepped) AS n,
        (SELECT printf('%s: %,d bytes: %.0f %% against %,d', path, size_bytes, change_percent, size_bytes_before)
         FROM stepped ORDER BY change_percent LIMIT 1) AS text)
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: link_errors
-- finding: Links corrected errors
-- reads: v_note (link_errors), v_fact (error_counters)
-- touches: link_errors
-- costs: The link sends damaged data again. Every replay and recovery costs time, and a link with many of them is
--   about to fail.
-- action: Run nvidia-smi -q (Replays) and nvidia-smi nvlink -e. Clean and reseat the GPU, its riser or cable.
-- source: https://docs.nvidia.com/deploy/nvml-api/group__nvmlFieldValueEnums.html
SELECT v.gpu AS gpu, v.gpu IS NOT NULL AS bad,
  coalesce(v.text, 'no counter rose during a case' || c.missing) AS evidence
FROM counters c LEFT JOIN rose v ON v.class = 'link_errors';

-- name: memory_errors
-- finding: The memory of a GPU had errors
-- reads: v_note (link_errors), v_fact (error_counters)
-- touches: memory_errors
-- costs: Corrected ECC errors cost little. Remapped rows cost nothing, but their number is limited. An uncorrected
--   error ends the programs that use that memory.
-- action: Look at nvidia-smi -q (ECC Errors, Remapped Rows) and at v_telemetry.memory_temperature_c. Reset a GPU
--   with a pending remapping. If its counters keep rising, return it to the vendor.
-- source: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
SELECT v.gpu AS gpu, v.gpu IS NOT NULL AS bad,
  coalesce(v.text, 'no counter rose during a case' || c.missing) AS evidence
FROM counters c LEFT JOIN rose v ON v.class = 'memory_errors';

-- name: xid
-- finding: The driver reported an error of a GPU (Xid)
-- reads: v_note (link_errors), v_fact (error_counters)
-- touches: xid
-- costs: It ends the programs on that GPU, or the driver had to recover the GPU.
-- action: Look up the number in the list of the source. Read dmesg of that time.
-- source: https://docs.nvidia.com/deploy/xid-errors/index.html
SELECT v.gpu AS gpu, v.gpu IS NOT NULL AS bad, coalesce(v.text, 'none during a case' || c.missing) AS evidence
FROM counters c LEFT JOIN rose v ON v.class = 'xid';
