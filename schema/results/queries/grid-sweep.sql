-- Copy bandwidth against the number of blocks.
--
-- One row per grid, from the latest run of grid-sweep: GB/s read and written together, the theoretical peak of
-- the GPU's memory (memory clock x 2 x bus width / 8) and the percentage of it.
--
-- of: grid-sweep
--
-- plot: x=blocks y=gbps low=low high=high curve=gpu peak=peak_gbps scale=semilog
--
-- narrow: blocks_per_sm,low,high,peak_gbps,remark,percent_of_peak
--
-- :run (run, default null) the run to show; without it: the latest of grid-sweep
SELECT
  c.source_place || c.source_index AS gpu,
  c.grid_blocks AS blocks,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.peak_gbps AS peak_gbps,
  c.percent_of_peak AS percent_of_peak,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark,
  round(1.0 * c.grid_blocks / d.sm_count, 2) AS blocks_per_sm
FROM v_run_case c
LEFT JOIN v_gpu d ON d.run = c.run AND d.gpu = c.source_index AND c.source_place = 'gpu'
WHERE c.status <> 'skipped' AND c.kind = 'stream'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'grid-sweep'
                              ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))
ORDER BY c.source_index, c.grid_blocks;
