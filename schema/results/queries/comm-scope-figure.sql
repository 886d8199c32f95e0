-- A figure of the Comm|Scope paper.
--
-- --param figure=2, 6, 7, 8, 9, 10 or 11. One row per point of a curve, in GB/s, from the latest run of
-- comm-scope/fig02 ... fig11. low and high are one standard deviation of the processes' rates (sd) below and above,
-- as the paper has it of five runs; of a single process the 95 % interval of the median. "local" and "remote" are
-- as seen from the GPU; for pageable_to_pinned, from the node of the source. x is the size in bytes of one
-- direction; in figure 10, to the host, the number of threads that touch 1 GiB. interval says what low and high are:
-- "sd" or "95 %". A point is one operation per trial, so that its fixed time is in the number; curves "back to back"
-- are of copies that follow each other in a trial. "two threads": a thread calls for each direction. A figure can be
-- measured in parts: runs of it with the same tag, on one machine, are shown as one, each point from the latest of
-- them that has it.
--
-- of: comm-scope-fig*
--
-- plot: x=x y=gbps|pages_per_us low=low high=high curve=series,curve by=plot axis=axis peak=peak_gbps
--     scale=log
--
-- narrow: pages_per_us,plot,peak_gbps,axis,low,high,sd,interval,processes,remark,series
--
-- Of pages on demand that nothing proves to have moved there is no rate; pages_per_us are those touched per microsecond.
--
-- :figure (integer, default null) number of the figure; without it: the one measured last
-- :run (run, default null) the run to show; without it: the latest of that figure
WITH RECURSIVE
  latest AS (
    SELECT coalesce(:run, (
      SELECT r.run FROM v_run r
      WHERE r.scenario GLOB 'comm-scope-fig[0-9][0-9]'
        AND (:figure IS NULL OR r.scenario = printf('comm-scope-fig%02d', :figure))
      ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)) AS run),
  chosen AS (
    SELECT run FROM latest
    UNION
    SELECT p.id FROM latest l CROSS JOIN run r ON r.id = l.run CROSS JOIN run p ON p.tag = r.tag
    JOIN scenario s ON s.id = r.scenario JOIN scenario q ON q.id = p.scenario
    JOIN environment e ON e.id = r.environment JOIN environment f ON f.id = p.environment
    WHERE :run IS NULL AND q.name = s.name AND f.host_name IS e.host_name),
  newest AS (
    SELECT c.bench_case, max(c.run) AS run FROM chosen x CROSS JOIN case_run c ON c.run = x.run
    WHERE c.status <> 'skipped' GROUP BY c.bench_case),
  spread AS (
    SELECT c.case_key, m.mean, sum((c.gbps - m.mean) * (c.gbps - m.mean)) / (count(*) - 1) AS square
    FROM newest x CROSS JOIN v_case c ON c.run = x.run AND c.bench_case = x.bench_case
    JOIN (SELECT d.case_key, avg(d.gbps) AS mean
          FROM newest y CROSS JOIN v_case d ON d.run = y.run AND d.bench_case = y.bench_case
          WHERE d.status = 'ok' GROUP BY d.case_key) m ON m.case_key = c.case_key
    WHERE c.status = 'ok' AND c.gbps IS NOT NULL
    GROUP BY c.case_key HAVING count(*) > 1),
  -- Its root, by Newton: SQLite has a function for it only from 3.35 on, and not in every build.
  root AS (
    SELECT case_key, square, mean AS sd, 60 AS steps FROM spread WHERE square > 1e-18 * mean * mean
    UNION ALL
    SELECT case_key, square, 0.0, 0 FROM spread WHERE NOT square > 1e-18 * mean * mean
    UNION ALL
    SELECT case_key, square, (sd + square / sd) / 2, steps - 1 FROM root WHERE steps > 0)
SELECT
  'figure ' || CAST(substr(c.scenario, 15) AS INTEGER) || CASE
    WHEN c.scenario <> 'comm-scope-fig10' THEN ''
    WHEN c.direction = 'device_to_host' THEN ', to the host by threads'
    ELSE ', to the GPU by size'
  END AS plot,
  CASE WHEN c.scenario <> 'comm-scope-fig10'
    THEN replace(replace(replace(c.block, '_remote', ''), '_repeated', ''), '_two_threads', '') END AS series,
  CASE
    WHEN c.scenario = 'comm-scope-fig08'
      THEN c.path || CASE WHEN c.block LIKE '%/_repeated' ESCAPE '/' THEN ', back to back' ELSE '' END
    WHEN c.block LIKE '%/_repeated' ESCAPE '/' THEN 'local, back to back'
    WHEN c.block LIKE '%/_two/_threads' ESCAPE '/' THEN 'local, two threads'
    WHEN c.scenario = 'comm-scope-fig02'
      THEN CASE WHEN c.axes LIKE '%host_cache=flushed%' THEN 'flushed'
                WHEN c.axes LIKE '%host_cache=as_is%' THEN 'as is' ELSE 'warm' END
    WHEN c.block LIKE '%/_remote' ESCAPE '/' THEN 'remote'
    WHEN c.block = 'pageable_to_pinned' AND c.source_index <> c.target_index THEN 'remote'
    ELSE 'local'
  END AS curve,
  CASE WHEN c.axes LIKE '%unified.threads=%' THEN 'host threads' ELSE 'size_bytes' END AS axis,
  CASE
    WHEN c.axes LIKE '%unified.threads=%'
      THEN CAST(substr(c.axes, instr(c.axes, 'unified.threads=') + 16) AS INTEGER)
    ELSE c.size_bytes
  END AS x,
  CASE WHEN NOT m.unproven THEN c.gbps END AS gbps,
  CASE WHEN m.unproven THEN NULL WHEN d.sd IS NULL THEN c.gbps_low ELSE c.gbps - d.sd END AS low,
  CASE WHEN m.unproven THEN NULL WHEN d.sd IS NULL THEN c.gbps_high ELSE c.gbps + d.sd END AS high,
  c.peak_gbps AS peak_gbps,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason
    WHEN m.unproven THEN 'nothing proves that the pages moved' END AS remark,
  d.sd AS sd,
  c.processes AS processes,
  CASE WHEN d.sd IS NOT NULL THEN 'sd' WHEN c.gbps_low IS NOT NULL THEN '95 %' END AS interval,
  CASE WHEN m.unproven THEN c.gbps * 1000 / (SELECT f.value
    FROM run y JOIN environment_fact f ON f.environment = y.environment AND f.name = 'page_size'
    WHERE y.id = c.run AND f.state = 'ok') END AS pages_per_us
FROM newest x
CROSS JOIN v_run_case c ON c.run = x.run AND c.bench_case = x.bench_case
LEFT JOIN root d ON d.case_key = c.case_key AND d.steps = 0
JOIN (SELECT v.case_key, v.block LIKE 'demand%' AND NOT min(v.verified) AS unproven
      FROM newest y CROSS JOIN v_case v ON v.run = y.run AND v.bench_case = y.bench_case GROUP BY v.case_key) m ON m.case_key = c.case_key
ORDER BY c.position, c.size_bytes;
