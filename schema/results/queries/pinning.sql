-- What page-locked memory costs, and how fast it is pinned.
--
-- One row per case: locking the pages of memory, or unlocking them.
--
-- columns: v_run_case
-- column operation: `pin`: memory is mapped, touched and registered. `unpin`: it is unregistered and unmapped
-- column pages: size of the pages
-- column touch_threads: threads that touch the pages of one allocation
-- column threads: threads that make the call at once
-- column ns: (ns) time of a call
-- column low_ns, high_ns: (ns) its interval
-- column first_ns: (ns) the first call of the case in its process
-- column gbps: (GB/s) size of all threads together, divided by ns
--
-- of: pinning
--
-- narrow: low_ns,high_ns
--
-- :run (run, default null) the run to show; without it: the latest of pinning
SELECT
  c.block AS block,
  c.path AS path,
  c.operation AS operation,
  c.source_memory AS memory,
  c.size_bytes AS size_bytes,
  c.pages AS pages,
  c.touch_threads AS touch_threads,
  coalesce(c.threads, 1) AS threads,
  c.median_ns AS ns,
  c.low_ns AS low_ns,
  c.high_ns AS high_ns,
  (SELECT avg(p.call_first_ns) FROM v_case p WHERE p.run = c.run AND p.bench_case = c.bench_case) AS first_ns,
  c.size_bytes * coalesce(c.threads, 1) / c.median_ns AS gbps
FROM v_run_case c
WHERE c.status = 'ok' AND c.kind = 'overhead'
  AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'pinning'
                              ORDER BY r.started_at DESC, r.run DESC LIMIT 1))
ORDER BY c.position;
