-- Every case under every driver version: one row per case and driver.
--
-- One row per case, machine and driver version, those of a case below each other: the median over all processes measured under it, the
-- slowest and the fastest. Simulated machines have rows of their own.
--
-- columns: v_driver
-- column ns: (ns) time of a case without a rate: per access, instruction or call
-- column remark: `simulated`, if the fake driver played the machine
-- column settings: what tells cases of one name apart, such as `min_trial 4 ms`
--
-- about: comparison
--
-- narrow: remark,runs,spread_percent,gpu_name,processes,gbps_low,gbps_high,host_name
--
-- empty: the database has no result
--
-- :name (text, default *) glob of case names
SELECT
  d.case_name AS case_name,
  d.host_name AS host_name,
  d.gpu_name AS gpu_name,
  d.driver_version AS driver_version,
  d.runs AS runs,
  d.processes AS processes,
  d.gbps AS gbps,
  d.gbps_low AS gbps_low,
  d.gbps_high AS gbps_high,
  CASE WHEN d.gbps IS NULL THEN coalesce(d.ns_per_op, d.median_ns) END AS ns,
  d.spread_percent AS spread_percent,
  CASE d.simulated WHEN 1 THEN 'simulated' END AS remark,
  (
    SELECT group_concat(DISTINCT CASE WHEN s.key GLOB '*_ns' THEN printf('%s %g ms', substr(s.key, 1, length(s.key) - 3), s.atom / 1e6)
                                      ELSE s.key || ' ' || s.atom END)
    FROM bench_case c, json_tree(c.definition) s
    WHERE c.name = d.case_name AND c.case_key = d.case_key AND s.atom IS NOT NULL
      AND EXISTS (SELECT 1 FROM bench_case o
                  WHERE o.name = c.name AND o.case_key <> c.case_key AND json_extract(o.definition, s.fullkey) IS NOT s.atom)
  ) AS settings
FROM v_driver d
WHERE d.case_name GLOB :name
ORDER BY d.simulated, d.case_name, d.host_name, d.driver_version;
