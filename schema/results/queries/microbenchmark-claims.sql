-- What two studies of GPUs claim, tested on this machine.
--
-- One row per claim, from the latest run of each scenario on the machine that was measured last; GPUs that disagree
-- make a claim false. numbers has both sides of the ratio, of the GPU where it is furthest from what is claimed.
-- 7.8 times, as the study measured, counts as reached from 7 on.
-- "memory bandwidth" is a table of grids and rates on an RTX 3080; "microbenchmarking" is the study of an RTX 2060
-- by Qiu, Jo and Goswami, with its sections. The capacities of the caches are in memory-capacity; how well one
-- thread, and 1024, tell GPUs apart (V.A) is what `haul identify` says of runs of fingerprint.
--
-- of: grid-sweep,stream,shared-memory-latency,shared-cache-scaling,arithmetic-latency,memory-hierarchy
--
-- narrow: section,source,numbers
--
-- :tag (text, default *) glob of tags: only runs with such a tag, for example of one driver
WITH
  run_of AS (
    SELECT r.run, r.scenario, r.host_name, r.simulated,
      row_number() OVER (PARTITION BY r.host_name, r.simulated, r.scenario
                         ORDER BY r.started_at_ns DESC, r.run DESC) AS age,
      row_number() OVER (ORDER BY r.started_at_ns DESC, r.run DESC) AS age_of_all
    FROM v_run r
    WHERE r.scenario IN ('grid-sweep', 'stream', 'shared-memory-latency', 'shared-cache-scaling',
                         'arithmetic-latency', 'memory-hierarchy')
      AND ifnull(r.tag, '') GLOB :tag),
  result AS (
    SELECT r.scenario, c.*, coalesce(c.source_index, c.target_index) AS device, d.sm_count, d.l2_bytes
    FROM run_of r JOIN run_of n ON n.age_of_all = 1
    CROSS JOIN v_run_case c ON c.run = r.run
    LEFT JOIN v_gpu d ON d.run = r.run AND d.gpu = coalesce(c.source_index, c.target_index)
    WHERE r.age = 1 AND r.host_name IS n.host_name AND r.simulated = n.simulated AND c.status = 'ok'),
  -- What is compared: a ÷ b on each GPU.
  pair (id, device, a, b) AS (
    SELECT 1, device, max(CASE WHEN CAST(grid_blocks AS INTEGER) <= sm_count THEN gbps END), max(gbps)
    FROM result WHERE scenario = 'grid-sweep' GROUP BY device
    UNION ALL
    SELECT 2, device, max(gbps), max(peak_gbps) FROM result WHERE scenario = 'grid-sweep' GROUP BY device
    UNION ALL
    SELECT 3, device, max(CASE WHEN block_threads = 32 THEN cycles_per_op END),
      max(CASE WHEN block_threads = 1 THEN cycles_per_op END)
    FROM result WHERE scenario = 'shared-memory-latency' AND block = 'shared' AND stride_bytes = 4 GROUP BY device
    UNION ALL
    SELECT 4, device, max(CASE WHEN stride_bytes = 128 THEN cycles_per_op END),
      max(CASE WHEN stride_bytes = 4 THEN cycles_per_op END)
    FROM result WHERE scenario = 'shared-memory-latency' AND block = 'shared' AND block_threads = 32 GROUP BY device
    UNION ALL
    SELECT 5, device,
      (max(CASE WHEN stride_bytes = 128 THEN cycles_per_op END)
       - max(CASE WHEN stride_bytes = 64 THEN cycles_per_op END)) / 16,
      (max(CASE WHEN stride_bytes = 64 THEN cycles_per_op END)
       - max(CASE WHEN stride_bytes = 4 THEN cycles_per_op END)) / 15
    FROM result WHERE scenario = 'shared-memory-latency' AND block = 'shared' AND block_threads = 32 GROUP BY device
    UNION ALL
    SELECT 6, device, max(CASE WHEN CAST(grid_blocks AS INTEGER) = 40 THEN gbps END),
      max(CASE WHEN CAST(grid_blocks AS INTEGER) = 35 THEN gbps END)
    FROM result WHERE scenario = 'shared-cache-scaling' AND block = 'l2' AND cache = 'l2' AND block_threads = 256 GROUP BY device
    UNION ALL
    SELECT 7, device, max(CASE WHEN number_type = 'f16' THEN cycles_per_op END),
      max(CASE WHEN number_type = 'f32' THEN cycles_per_op END)
    FROM result WHERE scenario = 'arithmetic-latency' AND block = 'latency' AND operation = 'fma' GROUP BY device
    UNION ALL
    SELECT 8, device, max(cycles_per_op), min(cycles_per_op)
    FROM result
    WHERE scenario = 'arithmetic-latency' AND block = 'latency' AND operation = 'fma'
      AND number_type IN ('f16', 'f32', 'i32') GROUP BY device
    UNION ALL
    SELECT 9, device, max(CASE WHEN operation = 'mul' THEN cycles_per_op END),
      max(CASE WHEN operation = 'add' THEN cycles_per_op END)
    FROM result WHERE scenario = 'arithmetic-latency' AND block = 'latency' AND number_type = 'i32' GROUP BY device
    UNION ALL
    SELECT 10, device, max(CASE WHEN operation IN ('add', 'triad') THEN gbps END),
      max(CASE WHEN operation IN ('copy', 'mul') THEN gbps END)
    FROM result WHERE scenario = 'stream' AND block = 'threads' GROUP BY device
    UNION ALL
    SELECT 11, device, avg(best), max(peak)
    FROM (SELECT device, operation, max(gbps) AS best, max(peak_gbps) AS peak
          FROM result WHERE scenario = 'stream' AND block = 'threads' GROUP BY device, operation)
    GROUP BY device
    UNION ALL
    SELECT 12, device, avg(CASE WHEN size_bytes >= 2 * l2_bytes THEN cycles_per_op END),
      avg(CASE WHEN 4 * size_bytes BETWEEN l2_bytes / 2 AND l2_bytes THEN cycles_per_op END)
    FROM result WHERE block = 'hierarchy' AND stride_bytes = 512 AND cache = 'l1' GROUP BY device
    UNION ALL
    SELECT 13, device, min(CASE WHEN space = 'global' AND cache = 'l2' THEN cycles_per_op END),
      min(CASE WHEN space = 'shared' THEN cycles_per_op END)
    FROM result WHERE scenario = 'shared-memory-latency' AND block_threads = 1024 GROUP BY device
    UNION ALL
    SELECT CASE cache WHEN 'l1' THEN 14 ELSE 15 END, device,
      (SELECT max(s.cycles_per_op) FROM result s WHERE s.scenario = r.scenario AND s.device = r.device
        AND s.block = 'shared' AND s.block_threads = 1024),
      min(cycles_per_op)
    FROM result r WHERE scenario = 'shared-memory-latency' AND space = 'global' AND block_threads = 1024
    GROUP BY device, cache
    UNION ALL
    SELECT 16, device, max(CASE WHEN CAST(grid_blocks AS INTEGER) <= 10 THEN gbps END), max(gbps)
    FROM result WHERE scenario = 'shared-cache-scaling' AND block = 'l1' GROUP BY device
    UNION ALL
    SELECT 17, device, max(CASE WHEN block_threads = 512 THEN gbps END), max(CASE WHEN block_threads = 128 THEN gbps END)
    FROM result WHERE scenario = 'shared-cache-scaling' AND block = 'l2' AND cache = 'l2' AND CAST(grid_blocks AS INTEGER) = 30 GROUP BY device
    UNION ALL
    -- Of the points of a curve the one at which the GPUs differ most.
    SELECT 18, min(device), max(gbps), min(gbps)
    FROM result WHERE scenario = 'shared-cache-scaling' AND block = 'l2' AND cache = 'l2' AND block_threads = 256
    GROUP BY grid_blocks HAVING count(DISTINCT device) > 1
    UNION ALL
    -- Neighbours of a sweep below the knee, of all operations those that differ least.
    SELECT 19, device, gbps, before
    FROM (SELECT device, gbps, before, row_number() OVER (PARTITION BY device ORDER BY gbps / before) AS place
          FROM (SELECT device, gbps, lag(gbps) OVER sweep AS before,
                  max(gbps) OVER (sweep ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached,
                  max(gbps) OVER (PARTITION BY device, operation) AS best
                FROM result WHERE scenario = 'stream' AND block = 'threads'
                WINDOW sweep AS (PARTITION BY device, operation ORDER BY block_threads))
          WHERE reached < 0.95 * best)
    WHERE place = 1
    UNION ALL
    SELECT 20, device, avg(CASE WHEN size_bytes BETWEEN 1 << 20 AND l2_bytes / 2 THEN cycles_per_op END),
      avg(CASE WHEN size_bytes <= 64 << 10 THEN cycles_per_op END)
    FROM result WHERE block = 'hierarchy' AND stride_bytes = 128 AND cache = 'l1' GROUP BY device
    UNION ALL
    SELECT 21, device, max(CASE WHEN operation = 'mul' THEN cycles_per_op END),
      max(CASE WHEN operation = 'add3' THEN cycles_per_op END)
    FROM result WHERE scenario = 'arithmetic-latency' AND measure = 'latency' AND number_type = 'i32' GROUP BY device),
  -- Claimed: a ÷ b is in low..high.
  claim (id, source, section, claim, unit, low, high, scenario) AS (VALUES
    (1, 'memory bandwidth', 'table', 'one block an SM does not saturate the memory', 'GB/s', 0, 0.9, 'grid-sweep'),
    (2, 'memory bandwidth', 'table', 'enough blocks come to 80 % of the theoretical peak', 'GB/s', 0.8, 1,
     'grid-sweep'),
    (3, 'microbenchmarking', 'II', 'shared memory: without conflicts a warp waits no longer than a thread',
     'cycles', 0.9, 1.1, 'shared-memory-latency'),
    (4, 'microbenchmarking', 'II', 'shared memory: 32 threads at one bank wait at least three times as long',
     'cycles', 3, 1e9, 'shared-memory-latency'),
    (5, 'microbenchmarking', 'II', 'shared memory: each further thread at a bank costs the same',
     'cycles per thread', 0.9, 1.1, 'shared-memory-latency'),
    (13, 'microbenchmarking', 'II', 'with 1024 threads shared memory answers faster than the L2 cache', 'cycles', 1, 1e9,
     'shared-memory-latency'),
    (14, 'microbenchmarking', 'II',
     'with 1024 threads the worst stride of shared memory waits 7.8 times as long as the best through L1 and L2, or longer',
     'cycles', 7, 1e9, 'shared-memory-latency'),
    (15, 'microbenchmarking', 'II',
     'with 1024 threads the worst stride of shared memory waits longer than the best through L2 alone', 'cycles',
     1, 1e9, 'shared-memory-latency'),
    (6, 'microbenchmarking', 'III', 'L2 cache: 40 blocks are hardly faster than 35', 'GB/s', 0.95, 1.1,
     'shared-cache-scaling'),
    (16, 'microbenchmarking', 'III', 'arrays in the L1 cache: 10 blocks come close to the best', 'GB/s', 0.9, 1,
     'shared-cache-scaling'),
    (17, 'microbenchmarking', 'III', 'L2 cache: 30 blocks of 512 threads are faster than of 128', 'GB/s', 1.05, 1e9,
     'shared-cache-scaling'),
    (18, 'microbenchmarking', 'III', 'GPUs of one model scale alike', 'GB/s', 0.9, 1.1, 'shared-cache-scaling'),
    (7, 'microbenchmarking', 'IV', 'FMA in half precision does not take half the time of single', 'cycles',
     0.75, 1e9, 'arithmetic-latency'),
    (8, 'microbenchmarking', 'IV', 'FMA of integers, half and single precision take about the same', 'cycles',
     1, 1.25, 'arithmetic-latency'),
    (9, 'microbenchmarking', 'IV', 'integers are multiplied as fast as added', 'cycles', 0.9, 1.1,
     'arithmetic-latency'),
    (21, 'microbenchmarking', 'IV', 'integers are multiplied as fast as added by the adder alone (IADD3)', 'cycles',
     0.9, 1.1, 'arithmetic-latency'),
    (10, 'microbenchmarking', 'V', 'ADD and TRIAD move more than COPY and MUL', 'GB/s', 1, 1e9, 'stream'),
    (19, 'microbenchmarking', 'V', 'twice the threads per block move more until 95 % of the best is reached', 'GB/s',
     1, 1e9, 'stream'),
    (11, 'microbenchmarking', 'V', 'STREAM comes to 80 % of the theoretical peak', 'GB/s', 0.8, 1, 'stream'),
    (20, 'microbenchmarking', 'VI', 'loads past the capacity of the L1 cache take longer', 'cycles', 1.1, 1e9,
     'memory-hierarchy'),
    (12, 'microbenchmarking', 'VI', 'loads past the capacity of the L2 cache take longer', 'cycles', 1.1, 1e9,
     'memory-hierarchy')),
  compared AS (
    SELECT c.id, p.device, p.a, p.b, p.a / p.b AS ratio, p.a / p.b BETWEEN c.low AND c.high AS agrees,
      row_number() OVER (PARTITION BY c.id ORDER BY
        min(p.a / p.b / max(c.low, 1e-9), c.high / (p.a / p.b)), p.device) AS place
    FROM claim c JOIN pair p ON p.id = c.id
    WHERE p.a > 0 AND p.b > 0)
SELECT
  c.source AS source,
  c.section AS section,
  c.claim AS claim,
  CASE
    WHEN w.id IS NULL AND EXISTS (SELECT 1 FROM result r WHERE r.scenario = c.scenario) THEN 'cannot be tested here'
    WHEN w.id IS NULL THEN 'not measured'
    WHEN w.agrees THEN 'holds'
    ELSE 'does not hold'
  END AS verdict,
  CASE
    WHEN w.id IS NULL AND EXISTS (SELECT 1 FROM result r WHERE r.scenario = c.scenario)
      THEN printf('the latest run of %s has no result, or no peak, for it', c.scenario)
    WHEN w.id IS NULL THEN printf('not measured: haul run %s', c.scenario)
    ELSE printf('%.4g : %.4g %s = %.2f on gpu%d, claimed %s', w.a, w.b, c.unit, w.ratio, w.device,
      CASE WHEN c.low = 0 THEN printf('at most %.4g', c.high)
        WHEN c.high >= 1e9 THEN printf('at least %.4g', c.low)
        ELSE printf('%.4g to %.4g', c.low, c.high) END)
  END AS numbers
FROM claim c LEFT JOIN compared w ON w.id = c.id AND w.place = 1
ORDER BY c.source, c.section, c.id;
