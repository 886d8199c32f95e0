INSERT INTO main.check_result (run, name, gpu, checked_at_ns, status, on_fail, want, found)
SELECT r.output, k.name, k.gpu, k.checked_at_ns, k.status, k.on_fail, k.want, k.found
FROM temp.merge_run r
JOIN input.check_result k ON k.run = r.input
WHERE true
ON CONFLICT (run, name, gpu, checked_at_ns) DO NOTHING;
