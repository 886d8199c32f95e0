-- How the trials of each case are distributed.
--
-- One row per case. Trials that `haul prune` deleted are missing.
--
-- columns: v_case,v_result
-- column low, median, high: (as unit) shortest, median and longest trial
-- column counts: number of trials in each of 32 equal parts between low and high: "PART:TRIALS", from part 0 on. Parts
--   without a trial are left out
--
-- about: results
--
-- narrow: case_key,block
--
-- empty: the run has no trials; haul prune may have deleted them
--
-- :run (run, default latest) the run to show
WITH
  -- A time is per access where the case has accesses.
  value AS (
    SELECT t.case_name AS "case", t.case_key, t.block, t.case_run,
      CASE WHEN t.gbps IS NOT NULL THEN 'GB/s' ELSE 'ns' END AS unit,
      coalesce(t.gbps, t.ns_per_hop, t.ns) AS value
    FROM v_trial t
    WHERE t.run = :run AND t.phase = 'measure' AND t.status = 'ok'),
  ordered AS (
    SELECT v.*, row_number() OVER (PARTITION BY v."case" ORDER BY v.value) AS place,
      count(*) OVER (PARTITION BY v."case") AS trials,
      min(v.value) OVER (PARTITION BY v."case") AS low,
      max(v.value) OVER (PARTITION BY v."case") AS high
    FROM value v),
  part AS (
    SELECT min(o.case_run) AS first, o."case", o.case_key, o.block, o.unit, o.trials, o.low, o.high,
      coalesce(min(31, CAST((o.value - o.low) / nullif(o.high - o.low, 0) * 32 AS INTEGER)), 0) AS part,
      count(*) AS count,
      max(CASE WHEN o.place = (o.trials + 1) / 2 THEN o.value END) AS median
    FROM ordered o
    GROUP BY o."case", part)
SELECT
  p."case" AS "case",
  p.case_key AS case_key,
  p.block AS block,
  p.unit AS unit,
  p.trials AS trials,
  p.low AS low,
  max(p.median) AS median,
  p.high AS high,
  group_concat(p.part || ':' || p.count, ' ') AS counts
FROM part p
GROUP BY p."case"
ORDER BY min(p.first);
