-- Every case of a run, one row per process.
--
-- The median and percentiles of each process, with the clock and power of the GPU during the case. The remark above_peak
-- is of a rate more than 1 % above its peak: a cache served the bytes, they did not move, or the peak is wrong.
--
-- columns: v_case
-- column ns: (ns) time of a case without a rate: per access, instruction or call
-- column remark: why there is no result; else `above_peak`, or the note of the case
--
-- about: results
--
-- narrow: verified,cv,power_w,gbps_p5,gbps_p95,sm_clock_mhz,median_ns,n,percent_of_peak,status,process,remark
--
-- empty: the run has no case
--
-- :run (run, default latest) the run to show
-- :name (text, default *) glob of case names
SELECT
  c.case_name AS case_name,
  c.process AS process,
  c.status AS status,
  c.n AS n,
  c.median_ns AS median_ns,
  c.cv AS cv,
  c.gbps AS gbps,
  c.gbps_p5 AS gbps_p5,
  c.gbps_p95 AS gbps_p95,
  c.percent_of_peak AS percent_of_peak,
  CASE WHEN c.gbps IS NULL THEN coalesce(c.ns_per_op, c.median_ns) END AS ns,
  c.verified AS verified,
  c.sm_clock_mhz AS sm_clock_mhz,
  c.power_w AS power_w,
  coalesce(c.reason, CASE WHEN c.above_peak THEN 'above_peak' END, c.note) AS remark
FROM v_case c
WHERE c.run = :run AND c.case_name GLOB :name
ORDER BY c.position, c.process;
