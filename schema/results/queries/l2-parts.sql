-- The two parts of a GPU's L2 cache: how long each SM waits for lines of the part near to it, and of the other.
--
-- One row per GPU, from the latest run of cache-bandwidth: latency of lines of the near and the far part, as means over
-- the SMs. To tell the lines apart, SMs time all of them first, and the first principal component of these times
-- divides lines and SMs.
--
-- column near_cycles, far_cycles, all_cycles: cycles per load of a near line, a far line, any line
-- column near_ns, far_ns: (ns) the same in ns
-- column lines_a, lines_b: (%) share of the lines in the one part, and in the other
-- column sms_a, sms_b: number of SMs that are near to that part
-- column remark: why there are no numbers: many GPUs have an L2 cache of one part
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
