-- The flows of cases with several flows.
--
-- One row per flow of a case with several flows: its rate in GB/s from its own start to its own end,
-- averaged over the processes of the run; flows with the same stream ran one after the other, and share is the part
-- of the case's time that each took. These rates do not add up to the rate of the case, which is
-- computed over one window for all flows. The role of a flow that only loads the machine is load: its time goes
-- from before that window to some repeats after it.
-- source_memory and target_memory of memory that another process has say how it is opened and whose it is: ipc:process1.
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
