-- Joules per GB delivered, by what moves the bytes.
--
-- One row per way and method of a run of energy: a copy engine, a kernel (vector), the bulk copy engine, unified
-- memory. Numbers are means over its processes.
--
-- column way: from where to where
-- column method: what moves the bytes: ce, vector (a kernel), bulk or um
-- column joules_per_gb: (J/GB) energy of the GPUs of the case, with their idle power, per GB delivered
-- column error: (J/GB) largest error of joules_per_gb, because the counter is read at intervals and counts in steps
-- column to_ce: joules_per_gb divided by that of the copy engine on the same way. NULL: trials were less than 90 % of
--   the time
-- column watts: (W) mean power of these GPUs
-- column gbps: (GB/s) rate of the case
-- column moving_percent: (%) share of the time in which trials ran. Between trials, pages of unified memory are put
--   back; that energy is in joules_per_gb, too. NULL: the time of trials is simulated
-- column remark: why there is no number, or what is in it
--
-- of: energy
--
-- narrow: error,moving_percent,to_ce,watts,remark,gbps
--
-- :run (run, default null) the run to show; without it: the latest of energy
WITH measured AS (
  SELECT
    c.position AS position,
    c.block AS way,
    coalesce(c.kernel_variant, c.method) AS method,
    c.gbps AS gbps,
    c.joules_per_gb AS joules_per_gb,
    c.joules_per_gb_error AS error,
    (SELECT sum(y.joules) / max(y.seconds) FROM v_energy y
     WHERE y.case_run = c.case_run AND c.joules_per_gb IS NOT NULL) AS watts,
    (SELECT sum(t.elapsed_ns) FROM trial t WHERE t.case_run = c.case_run AND t.phase = 1)
      / (SELECT 1e7 * max(y.seconds) FROM v_energy y
         WHERE y.case_run = c.case_run AND c.joules_per_gb IS NOT NULL) AS moving_percent,
    CASE WHEN c.status <> 'ok' THEN c.status || ': ' || c.reason
      WHEN c.joules_per_gb IS NULL THEN 'no energy counter, or too short' END AS remark
  FROM v_case c
  WHERE c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'energy'
                                ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  method AS (
    SELECT m.way, m.method, min(m.position) AS position, avg(m.joules_per_gb) AS joules_per_gb, avg(m.error) AS error,
      avg(m.watts) AS watts, avg(m.gbps) AS gbps, avg(m.moving_percent) AS moving_percent,
      ifnull(avg(m.moving_percent) < 90, 0) AS pauses, max(m.remark) AS remark
    FROM measured m GROUP BY m.way, m.method)
SELECT
  m.way AS way,
  m.method AS method,
  m.joules_per_gb AS joules_per_gb,
  m.error AS error,
  CASE WHEN NOT m.pauses THEN m.joules_per_gb
    / (SELECT e.joules_per_gb FROM method e WHERE e.way = m.way AND e.method = 'ce' AND NOT e.pauses) END AS to_ce,
  m.watts AS watts,
  m.gbps AS gbps,
  CASE WHEN m.moving_percent <= 101 THEN m.moving_percent END AS moving_percent,
  coalesce(m.remark, CASE WHEN m.pauses THEN printf(
    '%.0f %% of the time is between trials (%s): its energy is in the number, not compared with ce',
    100 - m.moving_percent, CASE m.method WHEN 'um' THEN 'pages are put back' ELSE 'pauses' END) END) AS remark
FROM method m
ORDER BY m.position;
