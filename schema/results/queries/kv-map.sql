-- Which way moves pieces fastest: the constants of an engine that moves a KV cache.
--
-- One row per path, number of pieces and range of sizes in which one way is the fastest: a loop, a batch, a graph (the
-- loop, captured) or a kernel.
--
-- column pieces: number of pieces
-- column run: number of pieces in a row in memory
-- column from_bytes, to_bytes: range of sizes of a piece
-- column fastest: the fastest way in this range
-- column gbps_from, gbps_to: (GB/s) its rate at the first and the last size
-- column lead_percent: (%) how much faster it is than the second, at least. Below 5 % the choice matters little
-- column second: the second fastest way at the first size
--
-- of: kv-map
--
-- narrow: second
--
-- :run (run, default null) the run to show; without it: the latest of kv-map
WITH
  measured AS (
    SELECT c.path, f.pieces, coalesce(f.piece_run, 1) AS piece_run, f.piece_bytes AS bytes, c.gbps, c.position,
      CASE WHEN c.method = 'sm' THEN 'kernel' WHEN f.graph THEN 'graph' ELSE f.submit END AS way
    FROM v_run_case c
    JOIN flow f ON f.bench_case = c.bench_case AND f.ordinal = 0
    WHERE c.status = 'ok' AND f.pieces IS NOT NULL
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'kv-map'
                                  ORDER BY r.started_at DESC, r.run DESC LIMIT 1))),
  ranked AS (
    SELECT *, row_number() OVER w AS place, lead(way) OVER w AS second, lead(gbps) OVER w AS second_gbps,
      min(position) OVER (PARTITION BY path) AS path_place
    FROM measured WINDOW w AS (PARTITION BY path, pieces, piece_run, bytes ORDER BY gbps DESC)),
  winner AS (
    SELECT *, 100 * (gbps / second_gbps - 1) AS lead_percent,
      row_number() OVER a - row_number() OVER b AS streak
    FROM ranked WHERE place = 1
    WINDOW a AS (PARTITION BY path, pieces, piece_run ORDER BY bytes),
      b AS (PARTITION BY path, pieces, piece_run, way ORDER BY bytes))
SELECT
  path AS path,
  pieces AS pieces,
  piece_run AS run,
  min(bytes) AS from_bytes,
  max(bytes) AS to_bytes,
  way AS fastest,
  max(CASE WHEN bytes = first THEN gbps END) AS gbps_from,
  max(CASE WHEN bytes = last THEN gbps END) AS gbps_to,
  min(lead_percent) AS lead_percent,
  max(CASE WHEN bytes = first THEN second END) AS second
FROM (SELECT *, min(bytes) OVER s AS first, max(bytes) OVER s AS last
      FROM winner WINDOW s AS (PARTITION BY path, pieces, piece_run, way, streak))
GROUP BY path_place, path, pieces, piece_run, way, streak
ORDER BY path_place, pieces, piece_run, from_bytes;
