-- The flows of cases with several flows.
--
-- One row per flow of a case with several flows, with means over the processes of the run. The rates of the flows do
-- not add up to the rate of the case, which has one window of time for all of them.
--
-- columns: v_flow,v_case
-- column case: name of the case
-- column source_memory, target_memory: kind of memory at that end. For memory of another process: how it is opened, and
--   the process that has it: `ipc:process1`
-- column gbps: (GB/s) rate of the flow, from its own start to its own end. A load begins before the measured flows and
--   ends after them
-- column share: flows with a stream: part of the time of the case that this flow took
--
-- of: replay
--
-- narrow: block,initiator,method,role,source_memory,target_memory,stream,copies,size_bytes
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  f.case_name AS "case",
  f.block AS block,
  f.flow AS flow,
  f.method AS method,
  f.source_place || f.source_index AS source,
  coalesce(f.source_share || ':process' || f.source_process, f.source_memory) AS source_memory,
  f.target_place || f.target_index AS target,
  coalesce(f.target_share || ':process' || f.target_process, f.target_memory) AS target_memory,
  f.initiator AS initiator,
  f.size_bytes AS size_bytes,
  avg(f.gbps) AS gbps,
  f.role AS role,
  f.copies AS copies,
  f.stream AS stream,
  avg(f.share) AS share
FROM v_flow f
WHERE f.run = :run AND f.block GLOB :block
  AND EXISTS (SELECT 1 FROM v_flow g WHERE g.case_run = f.case_run AND g.flow <> f.flow)
GROUP BY f.case_name, f.flow
ORDER BY min(f.case_run), f.flow;
