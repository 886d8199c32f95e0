-- Rules of haul explain about the results of a run: see rules_gpu.sql. Without a run they have no row.

-- name: shared_uplink
-- finding: Several GPUs at once are slower than one by one: they share a way to the host
-- reads: v_run_case.gbps, fact pcie_path
-- touches: at_once
-- costs: Two GPUs behind one uplink of a switch have half of it each. Where all share one, it is the host's memory or
--   the link between sockets.
-- action: Compare nvidia-smi topo -m, and pcie_path of the GPUs; spread what runs at once over GPUs with ways of
--   their own.
-- source: https://docs.nvidia.com/deploy/nvidia-smi/index.html (topo); the results themselves
WITH
  one_way AS (
    SELECT bench_case, count(*) AS n
    FROM flows
    WHERE bench_case NOT IN (SELECT c.bench_case FROM case_run c
                             WHERE c.run = (SELECT run FROM explained) AND c.slowed_by IS NOT NULL)
    GROUP BY bench_case
    HAVING count(*) = sum(role = 'measured' AND method = 'ce')
      AND min(source_place) = max(source_place) AND min(target_place) = max(target_place)
      AND min(source_place) <> min(target_place)
      AND count(DISTINCT CASE source_place WHEN 'gpu' THEN source_index ELSE target_index END) = count(*)),
  alone AS (
    SELECT f.source_place, f.source_index, f.source_memory, f.target_place, f.target_index, f.target_memory,
      f.size_bytes, max(r.gbps) AS gbps
    FROM one_way o
    JOIN flows f ON f.bench_case = o.bench_case
    JOIN result r ON r.bench_case = o.bench_case
    WHERE o.n = 1
    GROUP BY 1, 2, 3, 4, 5, 6, 7),
  together AS (
    -- The window ends with the slowest: without sharing, when it ends that is slowest alone.
    SELECT r.name, r.gbps, o.n, sum(f.size_bytes) / max(f.size_bytes / a.gbps) AS free_gbps, count(a.gbps) AS matched
    FROM one_way o
    JOIN flows f ON f.bench_case = o.bench_case
    JOIN result r ON r.bench_case = o.bench_case
    LEFT JOIN alone a USING (source_place, source_index, source_memory, target_place, target_index, target_memory,
                             size_bytes)
    WHERE o.n > 1 AND f.size_bytes >= 1048576
    GROUP BY o.bench_case)
SELECT NULL AS gpu, gbps < 0.75 * free_gbps AS bad,
  name || ': ' || round(gbps, 1) || ' GB/s at once, ' || round(free_gbps, 1) || ' as fast as each is alone'
    || coalesce('; below one root port: ' || (
      SELECT group_concat(gpus, ' and ') FROM (
        SELECT group_concat('gpu' || gpu, ' ') AS gpus FROM gpu
        WHERE json_extract(facts, '$.pcie_path') LIKE '____:%'
        GROUP BY substr(json_extract(facts, '$.pcie_path'), 1, 12) HAVING count(*) > 1)), '') AS evidence,
  'at_once' AS touches
FROM together WHERE matched = n;

-- name: cold_process
-- finding: The first process is slower than those after it
-- reads: v_case.process, v_case.median_ns
-- touches: all
-- costs: GPU, memory and driver come from idle: some per cent, in the first process alone. Verdicts count it as one
--   process of several.
-- action: Measure with more processes, or once before: haul run --only a case; start nvidia-persistenced.
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
-- costs: The driver copies through a buffer of its own and blocks the caller, so that nothing can wait behind a gate:
--   the call is in the time, a few us. Pinned memory reaches three to five times the rate.
-- action: None; compare with other pageable cases alone.
-- source: https://docs.nvidia.com/cuda/cuda-driver-api/api-sync-behavior.html
SELECT NULL AS gpu, n > 0 AS bad, 'gated = 0 in ' || n || ' cases of pageable memory' AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'pageable_ungated')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: small_copies
-- note: Copies below 32 KiB take the time of an operation, not of their bytes
-- reads: v_run_case.size_bytes, v_run_case.median_ns
-- touches: small_copy
-- costs: 2 to 5 us per copy, whatever its size: 4 KiB at 2.3 us are 1.8 GB/s. The driver also takes other ways for
--   small copies than for large ones, so that a curve over sizes has steps.
-- action: None; copy more at once.
-- source: measured on H200, r580: copy of 4 B, one / 64 back to back, 5.1 / 2.3 us
SELECT NULL AS gpu, n > 0 AS bad, n || CASE n WHEN 1 THEN ' case' ELSE ' cases' END AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'small_copy')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: small_batches
-- note: Batches of copies from the host in pieces below 32 KiB take another path through the driver
-- reads: v_flow.submit, v_flow.piece_bytes
-- touches: small_batch
-- costs: A step of six times: 5.7 GB/s in pieces of 16 KiB, 33.4 GB/s in pieces of 32 KiB. Batches from GPU to host
--   have none.
-- action: Pieces of 32 KiB and more, or a kernel (method sm), which is as fast at any size.
-- source: measured on H200, r580: haul run scattered-copies
SELECT NULL AS gpu, n > 0 AS bad, n || CASE n WHEN 1 THEN ' case' ELSE ' cases' END AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'small_batch')
WHERE (SELECT run FROM explained) IS NOT NULL;

-- name: serialised
-- note: Flows of a case ran one after the other
-- reads: v_case.serialised
-- touches: serialised
-- costs: The rate of a case is that of its whole window: two flows that wait for each other have that of one.
-- action: Fewer flows per copy engine at once; kernels (method sm) run side by side.
-- source: docs/ARCHITECTURE.md (the life of a trial)
SELECT NULL AS gpu, n > 0 AS bad, 'serialised = 1 in ' || n || CASE n WHEN 1 THEN ' case' ELSE ' cases' END AS evidence
FROM (SELECT count(DISTINCT bench_case) AS n FROM touched WHERE class = 'serialised')
WHERE (SELECT run FROM explained) IS NOT NULL;
