-- Copies from and to memory of another process, beside the same copy within one process.
--
-- One row per copy of which another process has the memory at one end, beside the same copy within one process.
--
-- columns: v_run_case
-- column gbps, low, high: (GB/s) rate and its interval
-- column own_gbps, own_low, own_high: (GB/s) the same copy within one process. NULL: the run has none
-- column change_percent: (%) how much faster the copy is than within one process
-- column ns, own_ns: (ns) time of one copy
-- column export_us: (us) time to export the memory
-- column first_us, later_us: (us) time to open it the first time, and later
-- column close_us: (us) time to close it
--
-- of: processes
--
-- narrow: own_low,own_high,low,high,block,own_ns,close_us,export_us,own_gbps,later_us,size_bytes,method
--
-- :run (run, default null) the run to show; without it: the latest of processes
WITH
  picked AS (
    SELECT c.*, f.size_bytes AS flow_bytes, f.source_place AS sp, f.source_index AS si, f.source_memory AS sm,
      f.target_place AS tp, f.target_index AS ti, f.target_memory AS tm
    FROM v_run_case c
    JOIN flow f ON f.bench_case = c.bench_case AND f.ordinal = 0
    WHERE c.kind = 'transfer' AND c.status = 'ok' AND c.flows = 1
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'processes'
                                  ORDER BY r.started_at DESC, r.run DESC LIMIT 1)))
SELECT
  o.block AS block,
  o.path AS path,
  o.method AS method,
  o.size_bytes AS size_bytes,
  o.gbps AS gbps,
  o.gbps_low AS low,
  o.gbps_high AS high,
  w.gbps AS own_gbps,
  w.gbps_low AS own_low,
  w.gbps_high AS own_high,
  100 * (o.gbps / w.gbps - 1) AS change_percent,
  o.median_ns AS ns,
  w.median_ns AS own_ns,
  o.share_export_ns / 1e3 AS export_us,
  o.share_open_first_ns / 1e3 AS first_us,
  o.share_open_ns / 1e3 AS later_us,
  o.share_close_ns / 1e3 AS close_us
FROM picked o
LEFT JOIN picked w ON w.source_process = 0 AND w.target_process = 0 AND w.method = o.method
  AND (w.flow_bytes, w.sp, w.si, w.sm, w.tp, w.ti, w.tm, w.initiator)
    IS (o.flow_bytes, o.sp, o.si, o.sm, o.tp, o.ti, o.tm, o.initiator)
WHERE o.source_process > 0 OR o.target_process > 0
GROUP BY o.bench_case
ORDER BY o.position;
