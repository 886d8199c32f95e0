-- Cases in the plans of the runs (a JSON array of their ids), those of one case_key together.
SELECT b.id, b.case_key, b.definition, b.block, b.name, b.kind, b.axes, b.path, b.payload_bytes,
  coalesce(f.method, o.operation, st.op, ar.op, b.kind) AS method,
  coalesce(f.size_bytes, h.footprint_bytes, o.size_bytes, st.size_bytes, 0) AS size_bytes,
  coalesce(h.hops, 0) AS hops
FROM bench_case b
LEFT JOIN chase h ON h.bench_case = b.id
LEFT JOIN overhead o ON o.bench_case = b.id
LEFT JOIN stream st ON st.bench_case = b.id
LEFT JOIN arithmetic ar ON ar.bench_case = b.id
LEFT JOIN flow f ON f.bench_case = b.id
  AND f.ordinal = (SELECT min(g.ordinal) FROM flow g
                   WHERE g.bench_case = b.id AND g.role = 'measured')
WHERE (b.name GLOB :only OR b.block GLOB :only OR b.case_key = :only)
  AND b.id IN (SELECT p.bench_case FROM plan_case p
               WHERE p.run IN (SELECT value FROM json_each(:runs)))
ORDER BY b.case_key, b.id;
