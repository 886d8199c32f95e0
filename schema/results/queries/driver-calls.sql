-- What each call of the driver costs the host, and how much more beside other allocations, threads or nodes.
--
-- One row per case, in the order of the scenario.
--
-- column operation: the call
-- column threads: threads that make the call at once
-- column alive: other allocations on the GPU
-- column nodes: kernels in the graph
-- column ns: (ns) time of a call, of many in a row
-- column low_ns, high_ns: (ns) its interval
-- column first_ns: (ns) the first call of the case in its process
-- column single_ns, p99_ns: (ns) median and 99th percentile of calls that are timed one by one
-- column ratio: ns divided by that of the same call with the fewest threads, allocations and nodes
-- column gbps: (GB/s) size divided by ns, of calls that allocate or pin memory
--
-- of: driver-calls
--
-- narrow: low_ns,high_ns,single_ns,gbps
--
-- :run (run, default null) the run to show; without it: the latest of driver-calls
WITH
  picked AS (
    SELECT coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'driver-calls'
                           ORDER BY r.started_at DESC, r.run DESC LIMIT 1)) AS run),
  single AS (
    SELECT bench_case, avg(call_first_ns) AS first_ns, avg(call_median_ns) AS single_ns, avg(call_p99_ns) AS p99_ns
    FROM v_case WHERE run = (SELECT run FROM picked) AND kind = 'overhead' GROUP BY bench_case),
  called AS (
    SELECT c.position, c.path, c.block, c.operation, c.source_memory AS memory, c.size_bytes,
      coalesce(o.threads, 1) AS threads, coalesce(o.alive, 0) AS alive, coalesce(o.nodes, 1) AS nodes,
      c.median_ns AS ns, c.low_ns, c.high_ns, s.first_ns, s.single_ns, s.p99_ns
    FROM v_run_case c
    JOIN overhead o ON o.bench_case = c.bench_case
    LEFT JOIN single s ON s.bench_case = c.bench_case
    WHERE c.run = (SELECT run FROM picked) AND c.status = 'ok'),
  compared AS (
    SELECT *, count(*) OVER w AS cases, first_value(ns) OVER (w ORDER BY threads, alive, nodes) AS least_ns
    FROM called WINDOW w AS (PARTITION BY path, operation, memory, size_bytes))
SELECT
  path AS path,
  block AS block,
  operation AS operation,
  memory AS memory,
  size_bytes AS size_bytes,
  threads AS threads,
  alive AS alive,
  nodes AS nodes,
  ns AS ns,
  low_ns AS low_ns,
  high_ns AS high_ns,
  first_ns AS first_ns,
  single_ns AS single_ns,
  p99_ns AS p99_ns,
  CASE WHEN cases > 1 THEN ns / least_ns END AS ratio,
  CASE WHEN operation IN ('allocate', 'free') THEN size_bytes / ns END AS gbps
FROM compared
ORDER BY position;
