-- What it costs to open and close memory of another process, by how much of it is open already.
--
-- One row per case: opening or closing a piece of memory of another process.
--
-- columns: v_run_case
-- column operation: the call. For shared memory: mapping and registering it
-- column handles: number of pieces of that process that are open, this one included
-- column us: (us) time of a call
-- column low_us, high_us: (us) its interval
-- column first_us: (us) the first time in the case
--
-- of: processes
--
-- plot: x=handles y=us low=low_us high=high_us curve=operation
--
-- narrow: low_us,high_us,size_bytes,first_us
--
-- :run (run, default null) the run to show; without it: the latest of processes
SELECT
  c.operation AS operation,
  coalesce(c.handles, 0) + 1 AS handles,
  c.size_bytes AS size_bytes,
  c.median_ns / 1e3 AS us,
  c.low_ns / 1e3 AS low_us,
  c.high_ns / 1e3 AS high_us,
  (SELECT avg(p.call_first_ns) / 1e3 FROM v_case p WHERE p.run = c.run AND p.bench_case = c.bench_case) AS first_us
FROM v_run_case c
WHERE c.kind = 'overhead' AND c.status = 'ok'
  AND c.operation IN ('ipc_open', 'ipc_close', 'fd_open', 'fd_close', 'pool_open', 'pool_close', 'shared_open', 'shared_close')
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'processes'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.operation, handles;
