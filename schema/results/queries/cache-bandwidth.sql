-- Bandwidth of a GPU's caches and memory over the footprint.
--
-- One row per footprint, from the latest run of cache-bandwidth: GB/s read and written together, and bytes per clock of
-- one SM. footprint_mib is what all SMs go through, of copy both arrays, and sm_kib an SM's share of it. cache is the
-- nearest one that may serve them, also where the footprint is too large for it. percent_of_peak is of the memory, and
-- NULL where a cache may serve the bytes.
--
-- of: cache-bandwidth
--
-- plot: x=footprint_mib y=gbps low=low high=high curve=operation,bytes_per_access by=gpu,cache scale=log
--
-- narrow: low,high,sm_kib,percent_of_peak,bytes_per_access,remark,bytes_per_clock_sm
--
-- :run (run, default null) the run to show; without it: the latest of cache-bandwidth
SELECT
  c.source_place || c.source_index AS gpu,
  CASE c.block WHEN 'l1' THEN 'l1' ELSE 'l2' END AS cache,
  c.operation AS operation,
  coalesce(s.vector_bytes, 16) AS bytes_per_access,
  c.payload_bytes / c.passes / 1048576.0 AS footprint_mib,
  c.payload_bytes / c.passes / 1024.0 / d.sm_count AS sm_kib,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.payload_bytes / c.median_cycles / d.sm_count AS bytes_per_clock_sm,
  c.percent_of_peak AS percent_of_peak,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason WHEN c.above_peak THEN 'above_peak' END AS remark
FROM v_run_case c
JOIN stream s ON s.bench_case = c.bench_case
LEFT JOIN v_gpu d ON d.run = c.run AND d.gpu = c.source_index
WHERE c.status <> 'skipped' AND c.kind = 'stream'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'cache-bandwidth'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, c.block, c.operation, bytes_per_access, footprint_mib;
