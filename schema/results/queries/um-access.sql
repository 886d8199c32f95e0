-- Unified memory: how pages are touched, and what that costs.
--
-- One row per case of a run of um-access. A touch reads or writes one byte of a page, and the page counts as a whole.
-- So gbps is the rate of a link only if every touched page moves.
--
-- column measured: block of the scenario: who touches the pages
-- column path: from where to where the pages move
-- column access, order: how and in which order pages are touched
-- column advise: advice to the driver. read_mostly works if touching again costs less than the first time, accessed_by
--   if pages stay on the host (remark)
-- column touched: `once`; `4 times` in turn; or `again`, the second touch alone
-- column threads: threads of the host, or of the whole kernel
-- column block: threads per block of the kernel
-- column warps: warps of the kernel
-- column gbps: (GB/s) rate of touched memory. If both ends touch pages of their own, of both together
-- column low, high: (GB/s) 95 % interval of gbps with one process, else the slowest and the fastest process
-- column of_first: gbps divided by that of the first row of its block
-- column remark: why there is no number, or what it counts
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
        || ifnull(replace('; ' || c.note,
          '; ' || (SELECT k.sentence FROM v_note_kind k WHERE k.kind = 'touched'), ''), '')
    ELSE c.note END AS remark
FROM place p
JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
JOIN flow f ON f.bench_case = c.bench_case AND f.ordinal = 0
WHERE c.status <> 'skipped'
ORDER BY p.listed;
