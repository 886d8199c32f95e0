-- Bandwidth and latency between every two places, as rows.
--
-- One row per pair of endpoints: the median over the processes of the run.
-- source_memory and target_memory of memory that another process has say how it is opened and whose it is: ipc:process1.
--
-- columns: v_pair
--
-- about: results
--
-- narrow: status,percent_of_peak,direction,target_memory,source_memory,ns_per_hop,method,size_bytes
--
-- empty: no case of the run has two places
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  p.block AS block,
  p.source AS source,
  coalesce(p.source_share || ':process' || p.source_process, p.source_memory) AS source_memory,
  p.target AS target,
  coalesce(p.target_share || ':process' || p.target_process, p.target_memory) AS target_memory,
  p.direction AS direction,
  p.method AS method,
  p.size_bytes AS size_bytes,
  p.gbps AS gbps,
  p.percent_of_peak AS percent_of_peak,
  p.ns_per_hop AS ns_per_hop,
  p.status AS status
FROM v_pair p
WHERE p.run = :run AND p.block GLOB :block
ORDER BY p.block, p.method, p.axes, p.size_bytes, p.source_place, p.source_index, p.target_place,
  p.target_index;
