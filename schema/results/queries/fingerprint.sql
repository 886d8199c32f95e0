-- STREAM by one thread, of every run and GPU.
--
-- One row a run of fingerprint and GPU, in GB/s: the four operations, their average, and their
-- average by the bytes that each moves (all bytes over all time). Which GPU made a run is what
-- `haul identify` says by these.
--
-- :since (text, default 0000) runs from that moment on: 2026-01-31
SELECT
  c.run AS run,
  c.started_at AS started_at,
  c.host_name AS host,
  c.source_index AS gpu,
  d.uuid AS uuid,
  max(CASE c.operation WHEN 'copy' THEN c.gbps END) AS copy,
  max(CASE c.operation WHEN 'mul' THEN c.gbps END) AS mul,
  max(CASE c.operation WHEN 'add' THEN c.gbps END) AS "add",
  max(CASE c.operation WHEN 'triad' THEN c.gbps END) AS triad,
  avg(c.gbps) AS average,
  sum(c.payload_bytes) / sum(c.median_ns) AS weighted,
  max(c.simulated) AS simulated
FROM v_run_case c
JOIN run r ON r.id = c.run
LEFT JOIN device d ON d.environment = r.environment AND d.place = 'gpu'
  AND d.number = c.source_index
WHERE c.scenario = 'fingerprint' AND c.kind = 'stream' AND c.status = 'ok'
  AND c.started_at >= :since
GROUP BY c.run, c.source_index
ORDER BY d.uuid, c.started_at, c.run;
