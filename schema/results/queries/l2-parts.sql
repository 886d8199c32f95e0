-- The two parts of a GPU's L2 cache: how long each SM waits for lines of the part near to it, and of the other.
--
-- One row per GPU, from the latest run of cache-bandwidth: cycles and ns per load, as means over the SMs, of which each
-- loads in turn. lines_a and lines_b are how many per cent of the lines are in the one part and in the other, sms_a and
-- sms_b how many SMs are near to each. Which lines are near to an SM is measured before: SMs time all lines, and the
-- first principal component of those times divides lines and SMs. remark says why there are no numbers: the L2 of
-- many GPUs has one part.
--
-- of: cache-bandwidth
--
-- narrow: all_cycles,near_ns,far_ns,remark,sms_a,sms_b
--
-- :run (run, default null) the run to show; without it: the latest of cache-bandwidth
WITH
  point AS (
    SELECT c.source_place || c.source_index AS gpu, c.status, c.reason, c.cycles_per_op AS cycles, c.ns_per_op AS ns,
      c.run, c.bench_case, substr(c.axes, instr(c.axes, 'lines=') + 6) AS lines
    FROM v_run_case c
    WHERE c.block = 'l2_parts'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'cache-bandwidth'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  part AS (
    SELECT p.gpu, n.amount, n.amount2, n.amount3, n.amount4
    FROM point p CROSS JOIN case_run c ON c.run = p.run AND c.bench_case = p.bench_case
    JOIN case_note n ON n.case_run = c.id AND n.kind = 'l2_parts'
    GROUP BY p.gpu)
SELECT
  p.gpu AS gpu,
  max(CASE WHEN p.lines = 'near' THEN p.cycles END) AS near_cycles,
  max(CASE WHEN p.lines = 'far' THEN p.cycles END) AS far_cycles,
  max(CASE WHEN p.lines = 'all' THEN p.cycles END) AS all_cycles,
  max(CASE WHEN p.lines = 'near' THEN p.ns END) AS near_ns,
  max(CASE WHEN p.lines = 'far' THEN p.ns END) AS far_ns,
  n.amount AS lines_a,
  n.amount2 AS sms_a,
  n.amount3 AS lines_b,
  n.amount4 AS sms_b,
  max(CASE WHEN p.status <> 'ok' THEN p.status || ': ' || p.reason END) AS remark
FROM point p LEFT JOIN part n ON n.gpu = p.gpu
GROUP BY p.gpu
ORDER BY p.gpu;
