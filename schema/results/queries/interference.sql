-- Copies and kernels that compute, each beside the other: who slows whom.
--
-- One row per copy and kernel that were measured beside each other. Each was measured alone, and while the other one
-- ran as a load.
--
-- column copy, method: which way the copy goes, and what moves it
-- column kernel: what computes
-- column sm_percent, sm_share: (%) share of the SMs that the kernel may use, and what limits it: its blocks or a green
--   context
-- column intensity: multiply-adds per element of a triad
-- column copy_alone_gbps, copy_gbps: (GB/s) rate of the copy alone, and beside the kernel
-- column copy_us: (us) time of one copy beside the kernel
-- column copy_slowed_percent: (%) how much slower the copy is beside the kernel. 0: the kernel does not disturb it
-- column copy_slowed_low, copy_slowed_high: (%) the same, from the intervals of both
-- column kernel_alone_tflops, kernel_tflops: (TFLOP/s) rate of the kernel alone, and beside the copy
-- column kernel_us: (us) time of one kernel beside the copy
-- column kernel_slowed_percent: (%) how much slower the kernel is beside the copy
-- column kernel_slowed_low, kernel_slowed_high: (%) the same, from the intervals of both
-- column green_sms: number of SMs that the driver gave the green context
--
-- of: interference
--
-- plot: x=sm_percent y=copy_slowed_percent,kernel_slowed_percent curve=copy,method,sm_share by=kernel unit=% scale=linear
--
-- narrow: intensity,copy_us,kernel_us,copy_slowed_low,copy_slowed_high,kernel_slowed_low,kernel_slowed_high
-- narrow: green_sms,copy_alone_gbps,kernel_alone_tflops,sm_share,sm_percent
--
-- :run (run, default null) the run to show; null: the latest of interference
WITH
  result AS (
    SELECT c.run, c.bench_case, c.kind, c.position, c.median_ns, c.low_ns, c.high_ns, c.gbps, c.tflops
    FROM v_run_case c
    WHERE c.status = 'ok'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'interference'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  -- Copies: alone, and with a kernel as load.
  copy_alone AS (
    SELECT w.way AS copy, w.method, w.size_bytes, r.*
    FROM result r JOIN v_case_flow w ON w.bench_case = r.bench_case AND w.flows = 1 AND w.kernel IS NULL
    WHERE r.kind = 'transfer'),
  copy_beside AS (
    SELECT w.way AS copy, w.method, w.size_bytes, k.kernel, k.sm_percent, k.sm_share, k.intensity, r.*
    FROM result r
    JOIN v_case_flow w ON w.bench_case = r.bench_case AND w.role = 'measured' AND w.flows = 2
    JOIN v_case_flow k ON k.bench_case = r.bench_case AND k.role = 'load' AND k.kernel IS NOT NULL
    WHERE r.kind = 'transfer'),
  -- Kernels: alone, and with a copy as load.
  kernel_alone AS (
    SELECT w.kernel, w.sm_percent, w.sm_share, w.intensity, r.*
    FROM result r JOIN v_case_flow w ON w.bench_case = r.bench_case AND w.flows = 1
    WHERE r.kind = 'compute'),
  kernel_beside AS (
    SELECT k.kernel, k.sm_percent, k.sm_share, k.intensity, w.way AS copy, w.method, w.size_bytes, r.*
    FROM result r
    JOIN v_case_flow k ON k.bench_case = r.bench_case AND k.role = 'measured' AND k.flows = 2
    JOIN v_case_flow w ON w.bench_case = r.bench_case AND w.role = 'load'
    WHERE r.kind = 'compute'),
  pair AS (
    SELECT copy, method, size_bytes, kernel, sm_percent, sm_share, intensity, min(position) AS position
    FROM (SELECT copy, method, size_bytes, kernel, sm_percent, sm_share, intensity, position FROM copy_beside
          UNION ALL
          SELECT copy, method, size_bytes, kernel, sm_percent, sm_share, intensity, position FROM kernel_beside)
    GROUP BY copy, method, size_bytes, kernel, sm_percent, sm_share, intensity)
SELECT
  p.copy AS copy,
  p.method AS method,
  p.kernel AS kernel,
  p.sm_percent AS sm_percent,
  p.sm_share AS sm_share,
  nullif(p.intensity, 0) AS intensity,
  ca.gbps AS copy_alone_gbps,
  cb.gbps AS copy_gbps,
  cb.median_ns / 1e3 AS copy_us,
  100 * (1 - ca.median_ns / cb.median_ns) AS copy_slowed_percent,
  100 * (1 - ca.high_ns / cb.low_ns) AS copy_slowed_low,
  100 * (1 - ca.low_ns / cb.high_ns) AS copy_slowed_high,
  ka.tflops AS kernel_alone_tflops,
  kb.tflops AS kernel_tflops,
  kb.median_ns / 1e3 AS kernel_us,
  100 * (1 - ka.median_ns / kb.median_ns) AS kernel_slowed_percent,
  100 * (1 - ka.high_ns / kb.low_ns) AS kernel_slowed_low,
  100 * (1 - ka.low_ns / kb.high_ns) AS kernel_slowed_high,
  (SELECT max(n.amount) FROM case_run c JOIN case_note n ON n.case_run = c.id AND n.kind = 'green_context'
   WHERE c.run = coalesce(kb.run, cb.run) AND c.bench_case = coalesce(kb.bench_case, cb.bench_case)) AS green_sms
FROM pair p
LEFT JOIN copy_alone ca ON ca.copy = p.copy AND ca.method = p.method AND ca.size_bytes = p.size_bytes
LEFT JOIN copy_beside cb ON cb.copy = p.copy AND cb.method = p.method AND cb.size_bytes = p.size_bytes
  AND cb.kernel = p.kernel AND cb.sm_percent = p.sm_percent AND cb.sm_share = p.sm_share
  AND cb.intensity IS p.intensity
LEFT JOIN kernel_alone ka ON ka.kernel = p.kernel AND ka.sm_percent = p.sm_percent AND ka.sm_share = p.sm_share
  AND ka.intensity IS p.intensity
LEFT JOIN kernel_beside kb ON kb.copy = p.copy AND kb.method = p.method AND kb.size_bytes = p.size_bytes
  AND kb.kernel = p.kernel AND kb.sm_percent = p.sm_percent AND kb.sm_share = p.sm_share
  AND kb.intensity IS p.intensity
ORDER BY p.position, p.copy, p.method;
