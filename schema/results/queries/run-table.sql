-- What a run measured.
--
-- One row per case, in the order of the plan: the median over the processes of the run, in GB/s (10^9 bytes per
-- second), or in ns per load, instruction or call. low and high are the 95 % interval of the median if there
-- was one process, and the slowest and the fastest process if there were several. peak_pct is the percentage
-- of the theoretical peak.
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  c.case_name AS "case",
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.percent_of_peak AS peak_pct,
  CASE WHEN c.gbps IS NULL THEN coalesce(c.ns_per_op, c.median_ns) END AS ns,
  c.status AS status,
  coalesce(c.reason, c.note) AS remark
FROM v_run_case c
WHERE c.run = :run AND c.status <> 'skipped' AND c.block GLOB :block
ORDER BY c.position;
