-- Copies by kernels that compute: how much slower each is beside the other, as a matrix.
--
-- One row per copy, with its rate alone. copy_by_matmul is how much slower the copy is while a matrix product runs, in
-- per cent of its rate alone, with the interval in brackets; matmul_by_copy is how much slower the matrix product is while
-- that copy runs; likewise for multiply-adds (fma) and the triad. The kernels have all SMs. NULL: not measured.
--
-- of: interference
--
-- narrow: triad_by_copy,fma_by_copy,copy_by_fma,copy_by_triad
--
-- :run (run, default null) the run to show; null: the latest of interference
WITH
  result AS (
    SELECT c.bench_case, c.kind, c.position, c.median_ns, c.low_ns, c.high_ns, c.gbps
    FROM v_run_case c
    WHERE c.status = 'ok'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'interference'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1))),
  single AS (
    SELECT coalesce(w.kernel, w.way || w.method) AS what, w.way AS copy, w.method, w.size_bytes, r.*
    FROM result r JOIN v_case_flow w ON w.bench_case = r.bench_case AND w.flows = 1
    WHERE coalesce(w.sm_percent, 100) = 100),
  pair AS (
    SELECT coalesce(m.kernel, m.way || m.method) AS what, l.way || l.method AS load, coalesce(m.kernel, l.kernel) AS kernel,
      CASE WHEN m.kernel IS NULL THEN m.way || m.method ELSE l.way || l.method END AS way, m.kernel IS NULL AS is_copy,
      r.median_ns, r.low_ns, r.high_ns
    FROM result r
    JOIN v_case_flow m ON m.bench_case = r.bench_case AND m.role = 'measured' AND m.flows = 2
    JOIN v_case_flow l ON l.bench_case = r.bench_case AND l.role = 'load'
    WHERE coalesce(m.sm_percent, l.sm_percent) = 100),
  cell AS (
    SELECT p.way, p.kernel, p.is_copy,
      printf('%.1f', 100 * (1 - s.median_ns / p.median_ns))
        || CASE WHEN s.high_ns IS NULL OR p.high_ns IS NULL THEN '' ELSE
          printf(' (%.1f to %.1f)', 100 * (1 - s.high_ns / p.low_ns), 100 * (1 - s.low_ns / p.high_ns)) END AS text
    FROM pair p JOIN single s ON s.what = p.what)
SELECT
  s.copy AS copy,
  s.method AS method,
  round(s.gbps, 1) AS gbps,
  max(CASE WHEN c.is_copy AND c.kernel = 'matmul' THEN c.text END) AS copy_by_matmul,
  max(CASE WHEN c.is_copy AND c.kernel = 'fma' THEN c.text END) AS copy_by_fma,
  max(CASE WHEN c.is_copy AND c.kernel = 'triad' THEN c.text END) AS copy_by_triad,
  max(CASE WHEN NOT c.is_copy AND c.kernel = 'matmul' THEN c.text END) AS matmul_by_copy,
  max(CASE WHEN NOT c.is_copy AND c.kernel = 'fma' THEN c.text END) AS fma_by_copy,
  max(CASE WHEN NOT c.is_copy AND c.kernel = 'triad' THEN c.text END) AS triad_by_copy
FROM single s
LEFT JOIN cell c ON c.way = s.what
WHERE s.kind = 'transfer'
GROUP BY s.what
ORDER BY min(s.position);
