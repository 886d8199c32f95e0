-- STREAM by one thread, and by many as a control, for every run and GPU.
--
-- One row per GPU, run and block of fingerprint, in GB/s: the four operations, their average, and their average
-- weighted by bytes (all bytes over all time). `haul identify` uses them to find the GPU that made a run.
--
-- of: fingerprint
--
-- plot: x=run y=weighted curve=uuid by=block unit=GB/s scale=linear
--
-- narrow: simulated,average,copy,mul,add,triad,host_name
--
-- :since (text, default 0000) only runs from this time on: 2026-01-31
SELECT
  c.run AS run,
  c.started_at AS started_at,
  c.host_name AS host_name,
  c.source_index AS gpu,
  c.source_uuid AS uuid,
  max(CASE c.operation WHEN 'copy' THEN c.gbps END) AS copy,
  max(CASE c.operation WHEN 'mul' THEN c.gbps END) AS mul,
  max(CASE c.operation WHEN 'add' THEN c.gbps END) AS "add",
  max(CASE c.operation WHEN 'triad' THEN c.gbps END) AS triad,
  avg(c.gbps) AS average,
  sum(c.payload_bytes) / sum(c.median_ns) AS weighted,
  max(c.simulated) AS simulated,
  c.block AS block
FROM v_run_case c
WHERE c.run IN (SELECT r.run FROM v_run r WHERE r.scenario = 'fingerprint' AND r.started_at >= :since)
  AND c.kind = 'stream' AND c.status = 'ok'
GROUP BY c.run, c.source_index, c.block
ORDER BY c.block DESC, uuid, c.started_at, c.run;
