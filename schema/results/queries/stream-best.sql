-- The highest STREAM bandwidth of GPUs and of the host.
--
-- One row per operation and place, from the latest run of stream: its best kernel on GPUs, one thread and all
-- threads on NUMA nodes.
--
-- of: stream
--
-- narrow: low,high,peak_gbps,type,remark,threads,percent_of_peak
--
-- :run (run, default null) the run to show; without it: the latest of stream
SELECT
  c.path AS place,
  CASE WHEN c.source_place = 'numa' THEN coalesce(c.threads, 'all') END AS threads,
  c.operation AS operation,
  c.number_type AS type,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.peak_gbps AS peak_gbps,
  c.percent_of_peak AS percent_of_peak,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped' AND c.block IN ('best', 'host')
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'stream'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
ORDER BY c.block, c.source_index, c.threads IS NULL, c.position;
