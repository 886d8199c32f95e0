-- Comm|Scope, figure 10: unified memory on demand, by size and by host threads.
--
-- One row a point of a curve: what the latest run of comm-scope/fig10 measured, in GB/s. To the
-- GPU, x is the size in bytes; to the host, the number of threads that touch 1 GiB.
--
-- :run (run, default null) another run than the latest of this figure
SELECT
  CASE WHEN c.direction = 'device_to_host' THEN 'to the host by threads' ELSE 'to the GPU by size'
  END AS plot,
  CASE WHEN c.block LIKE '%/_remote' ESCAPE '/' THEN 'remote' ELSE 'local' END AS place,
  CASE WHEN c.direction = 'device_to_host' THEN 'host threads' ELSE 'size_bytes' END AS axis,
  CASE
    WHEN c.direction = 'device_to_host'
      THEN CAST(substr(c.axes, instr(c.axes, 'unified.threads=') + 16) AS INTEGER)
    ELSE c.size_bytes
  END AS x,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason END AS remark
FROM v_run_case c
WHERE c.status <> 'skipped'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'comm-scope-fig10'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.position;
