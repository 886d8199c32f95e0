-- What a run measured.
--
-- One row per case, in the order of the scenario: the median over the processes of the run, in GB/s (10^9 bytes per
-- second), or in ns per access, instruction or call. gbps_low and gbps_high are the 95 % interval of the median if there
-- was one process, and the slowest and the fastest process if there were several. percent_of_peak is the percentage
-- of the theoretical peak; the remark above_peak: a cache served the bytes, they did not move, or the peak is wrong. "= NAME" is the remark on a setting that comes to another case, whose result it has.
--
-- columns: v_run_case,v_result
-- column ns: (ns) time of a case without a rate: per access, instruction or call
--
-- about: results
--
-- narrow: gbps_high,gbps_low,remark,percent_of_peak,status,ns
--
-- empty: the run has no case
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  p.case_name AS case_name,
  c.gbps AS gbps,
  c.gbps_low AS gbps_low,
  c.gbps_high AS gbps_high,
  c.percent_of_peak AS percent_of_peak,
  CASE WHEN c.gbps IS NULL THEN coalesce(c.ns_per_op, c.median_ns) END AS ns,
  c.status AS status,
  coalesce('= ' || p.same_as, c.reason, CASE WHEN c.above_peak THEN 'above_peak' END, c.note) AS remark
FROM v_place p CROSS JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
WHERE p.run = :run AND c.status <> 'skipped' AND p.block GLOB :block
ORDER BY p.listed, p.position;
