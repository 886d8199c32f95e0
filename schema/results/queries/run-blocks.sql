-- A run of many cases, block by block.
--
-- cases: with a result, skipped ones too. wrong: failed, crashed, hung or corrupt in some process. gbps and ns: the
-- least and the greatest median of a case in a process, ns per access of a chase and per instruction of a chain. gbps is
-- NULL where no bytes are counted.
--
-- about: results
--
-- narrow: ns_least,gbps_least,skipped,ok,ns_greatest,wrong
--
-- empty: the run has no case
--
-- :run (run, default latest) the run to show
SELECT
  b.block AS block,
  count(DISTINCT c.bench_case) AS cases,
  count(DISTINCT CASE c.status WHEN 'ok' THEN c.bench_case END) AS ok,
  count(DISTINCT CASE c.status WHEN 'skipped' THEN c.bench_case END) AS skipped,
  count(DISTINCT CASE WHEN c.status NOT IN ('ok', 'skipped') THEN c.bench_case END) AS wrong,
  min(nullif(b.payload_bytes, 0) / c.median_ns) AS gbps_least,
  max(nullif(b.payload_bytes, 0) / c.median_ns) AS gbps_greatest,
  min(c.median_ns / coalesce(nullif(b.operations, 0), 1)) AS ns_least,
  max(c.median_ns / coalesce(nullif(b.operations, 0), 1)) AS ns_greatest
FROM case_run c
JOIN bench_case b ON b.id = c.bench_case
WHERE c.run = :run
GROUP BY b.block
ORDER BY min(c.bench_case);
