-- Unified memory: how pages are touched, and what that costs.
--
-- One row per case of the latest run of um-access: who touches how, the rate in GB/s of the memory that is touched
-- (of both ends together where both touch pages of their own), and of_first, the rate against that of the first row of
-- its block. threads are those of the host, or of the whole kernel in blocks of that many. touched: once; four times
-- in turn; or "again", which is the second touch alone. A touch is of one byte per page, and the page counts as a
-- whole: where pages may stay (an advice, again), gbps is no rate at which bytes crossed a link. For advices,
-- read_mostly is in effect where touching again costs less than the first time, accessed_by where pages stay on the
-- host (remark).
--
-- of: um-access
--
-- plot: x=warps y=gbps low=low high=high curve=block by=measured,path rows=measured:kernel scale=semilog
--
-- narrow: remark,low,high,of_first,path,warps,block,touched,order,threads,advise
--
-- :run (run, default null) the run to show; without it: the latest of um-access
WITH
  asked AS (
    SELECT coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'um-access'
                           ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)) AS run),
  -- v_place of that run alone.
  place AS (
    SELECT p.run, p.bench_case, b.block, ifnull(p.listed, p.position) AS listed
    FROM plan_case p JOIN bench_case b ON b.id = p.bench_case WHERE p.run = (SELECT run FROM asked)
    UNION ALL
    SELECT a.run, a.measured_by, b.block, a.listed
    FROM plan_alias a JOIN bench_case b ON b.id = a.bench_case WHERE a.run = (SELECT run FROM asked))
SELECT
  p.block AS measured,
  c.path AS path,
  coalesce(f.unified_access, 'write') AS access,
  coalesce(f.unified_order, 'linear') AS "order",
  f.unified_advise AS advise,
  CASE WHEN f.unified_again THEN 'again' WHEN f.unified_passes > 1 THEN f.unified_passes || ' times' ELSE 'once' END
    AS touched,
  CASE WHEN p.block = 'kernel' THEN c.block_threads * c.grid_blocks WHEN p.block LIKE '%by_gpu' THEN NULL
    ELSE c.threads END AS threads,
  c.block_threads AS block,
  c.block_threads * c.grid_blocks / 32 AS warps,
  c.gbps AS gbps,
  c.gbps_low AS low,
  c.gbps_high AS high,
  c.gbps / first_value(c.gbps) OVER (PARTITION BY p.block ORDER BY p.listed) AS of_first,
  CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason
    WHEN f.unified_again OR f.unified_advise IN ('read_mostly', 'accessed_by')
      THEN 'one byte per page is touched and counts as the page, moved or not: no rate of a link'
        || ifnull(replace('; ' || c.note, '; the rate counts the pages that were touched, whether they moved or not', ''), '')
    ELSE c.note END AS remark
FROM place p
JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
JOIN flow f ON f.bench_case = c.bench_case AND f.ordinal = 0
WHERE c.status <> 'skipped'
ORDER BY p.listed;
