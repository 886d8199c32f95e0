-- Models of GPUs side by side, by the microbenchmarks.
--
-- One row per model of GPU (simulated ones apart), from the latest run of each microbenchmark on every node, each value
-- the mean over its GPUs; NULL: not measured. Cycles are those of a dependent load or instruction, one thread alone:
-- from shared memory, the L1 and L2 caches and memory (512 MiB), conflict_cycles those of each further thread at a bank
-- of shared memory; fma and add3 the chains of arithmetic-latency. copy and triad are the best kernels of stream, l2 the
-- best copy inside the L2 cache, by loads that pass the L1. `haul diff --any-hardware` compares two models case by case.
--
-- of: memory-hierarchy,stream,shared-cache-scaling,shared-memory-latency,arithmetic-latency
--
-- narrow: add3_i32_cycles,fma_f64_cycles,fma_f32_cycles,conflict_cycles,copy_gbps,sms,simulated,percent_of_peak,l1_cycles
--
-- :tag (text, default *) glob of tags: only runs with such a tag
WITH
  latest AS (
    SELECT r.run, r.scenario,
      row_number() OVER (PARTITION BY r.node, r.gpu_name, r.simulated, r.scenario
                         ORDER BY r.started_at_ns DESC, r.run DESC) AS age
    FROM v_run r
    WHERE r.scenario IN ('stream', 'shared-memory-latency', 'shared-cache-scaling', 'arithmetic-latency',
                         'memory-hierarchy')
      AND ifnull(r.tag, '') GLOB :tag),
  result AS (
    SELECT l.scenario, d.gpu_name AS model, d.sm_count, c.node || ' ' || d.gpu AS device, c.*
    FROM latest l
    CROSS JOIN v_run_case c ON c.run = l.run
    JOIN v_gpu d ON d.run = c.run AND d.gpu = c.target_index
    WHERE l.age = 1 AND c.status = 'ok'),
  figure AS (
    SELECT r.model, r.simulated, r.device, max(r.sm_count) AS sms,
      min(CASE WHEN r.space = 'shared' AND r.block_threads = 1 THEN r.cycles_per_op END) AS shared_cycles,
      (max(CASE WHEN r.block = 'shared' AND r.block_threads = 32 AND r.stride_bytes = 128 THEN r.cycles_per_op END)
        - max(CASE WHEN r.block = 'shared' AND r.block_threads = 32 AND r.stride_bytes = 4 THEN r.cycles_per_op END))
        / 31 AS conflict_cycles,
      min(CASE WHEN r.scenario = 'memory-hierarchy' AND r.cache = 'l1' THEN r.cycles_per_op END) AS l1_cycles,
      min(CASE WHEN r.scenario = 'memory-hierarchy' AND r.cache = 'l2' THEN r.cycles_per_op END) AS l2_cycles,
      min(CASE WHEN r.block = 'hierarchy' AND r.size_bytes = 512 << 20 THEN r.cycles_per_op END)
        AS memory_cycles,
      max(CASE WHEN r.measure = 'latency' AND r.operation = 'fma' AND r.number_type = 'f32' THEN r.cycles_per_op END)
        AS fma_f32_cycles,
      max(CASE WHEN r.measure = 'latency' AND r.operation = 'fma' AND r.number_type = 'f64' THEN r.cycles_per_op END)
        AS fma_f64_cycles,
      max(CASE WHEN r.measure = 'latency' AND r.operation = 'add3' THEN r.cycles_per_op END) AS add3_i32_cycles,
      max(CASE WHEN r.scenario = 'stream' AND r.block = 'best' AND r.operation = 'copy' THEN r.gbps END) AS copy_gbps,
      max(CASE WHEN r.scenario = 'stream' AND r.block = 'best' AND r.operation = 'triad' THEN r.gbps END)
        AS triad_gbps,
      max(CASE WHEN r.scenario = 'stream' AND r.block = 'best' AND r.operation = 'triad' THEN r.percent_of_peak END)
        AS percent_of_peak,
      max(CASE WHEN r.scenario = 'shared-cache-scaling' AND r.cache = 'l2' THEN r.gbps END) AS l2_gbps
    FROM result r
    GROUP BY r.model, r.simulated, r.device)
SELECT
  f.model AS model,
  count(*) AS gpus,
  max(f.sms) AS sms,
  avg(f.shared_cycles) AS shared_cycles,
  avg(f.conflict_cycles) AS conflict_cycles,
  avg(f.l1_cycles) AS l1_cycles,
  avg(f.l2_cycles) AS l2_cycles,
  avg(f.memory_cycles) AS memory_cycles,
  avg(f.fma_f32_cycles) AS fma_f32_cycles,
  avg(f.fma_f64_cycles) AS fma_f64_cycles,
  avg(f.add3_i32_cycles) AS add3_i32_cycles,
  avg(f.copy_gbps) AS copy_gbps,
  avg(f.triad_gbps) AS triad_gbps,
  avg(f.percent_of_peak) AS percent_of_peak,
  avg(f.l2_gbps) AS l2_gbps,
  f.simulated AS simulated
FROM figure f
GROUP BY f.model, f.simulated
ORDER BY f.simulated, f.model;
