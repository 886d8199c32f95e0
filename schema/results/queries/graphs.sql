-- Copies in CUDA graphs beside the same calls on a stream.
--
-- One row per block, path, method and size. ratio: the rate in a graph by that of the calls; above 1 the graph is faster.
-- faster: which of them, beyond the intervals of both; NULL: neither.
--
-- of: graphs
--
-- narrow: method
--
-- :run (run, default null) the run to show; without it: the latest of graphs
WITH
  measured AS (
    SELECT c.position, c.block, c.path, c.method, c.size_bytes, coalesce(f.graph, 0) AS graph, c.gbps,
      coalesce(c.gbps_low, c.gbps) AS low, coalesce(c.gbps_high, c.gbps) AS high
    FROM v_run_case c
    JOIN flow f ON f.bench_case = c.bench_case AND f.ordinal = 0
    WHERE c.status = 'ok'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'graphs'
                                  ORDER BY r.started_at DESC, r.run DESC LIMIT 1)))
SELECT
  s.block AS block,
  s.path AS path,
  s.method AS method,
  s.size_bytes AS size_bytes,
  s.gbps AS stream_gbps,
  g.gbps AS graph_gbps,
  g.gbps / s.gbps AS ratio,
  CASE WHEN g.low > s.high THEN 'graph' WHEN s.low > g.high THEN 'stream' END AS faster
FROM measured s
JOIN measured g ON g.block = s.block AND g.path = s.path AND g.method = s.method AND g.size_bytes = s.size_bytes
  AND g.graph = 1
WHERE s.graph = 0
ORDER BY s.position;
