-- What a run measured, in full.
--
-- One row a case, in the order of the plan, skipped ones with their reason: what `haul run` shows
-- as matrices and tables, and gives as JSON. Rates are the median over the run's processes, in GB/s
-- (10^9 bytes a second). gbps_low and gbps_high are the 95 % interval of the median where there was
-- one process, and the slowest and fastest process where there were several.
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  c.case_name AS "case",
  c.block AS block,
  c.path AS path,
  c.axes AS axes,
  c.kind AS kind,
  c.method AS method,
  c.operation AS operation,
  c.direction AS direction,
  c.source_place || c.source_index AS source,
  c.source_memory AS source_memory,
  c.target_place || c.target_index AS target,
  c.target_memory AS target_memory,
  c.flows AS flows,
  EXISTS (SELECT 1 FROM bench_case b JOIN flow f ON f.bench_case = b.id
          WHERE b.case_key = c.case_key AND b.name = c.case_name AND f.role = 'load')
    AS under_load,
  c.size_bytes AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS gbps_low,
  c.gbps_high AS gbps_high,
  c.percent_of_peak AS percent_of_peak,
  c.peak_gbps AS peak_gbps,
  c.limited_by AS limited_by,
  c.ns_per_hop AS ns_per_hop,
  c.median_ns AS median_ns,
  c.low_ns AS low_ns,
  c.high_ns AS high_ns,
  c.n AS trials,
  c.processes AS processes,
  c.status AS status,
  c.reason AS reason,
  c.note AS note
FROM v_run_case c
WHERE c.run = :run AND c.block GLOB :block
ORDER BY c.position;
