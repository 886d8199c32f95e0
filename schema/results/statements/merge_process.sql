INSERT INTO main.process (run, ordinal, pid, workers, started_at_ns, ended_at_ns)
SELECT r.output, p.ordinal, p.pid, p.workers, p.started_at_ns, p.ended_at_ns
FROM temp.merge_run r
JOIN input.process p ON p.run = r.input
WHERE true
ORDER BY p.id
ON CONFLICT (run, ordinal) DO UPDATE SET
  pid = excluded.pid, workers = excluded.workers, ended_at_ns = excluded.ended_at_ns
WHERE (excluded.workers, ifnull(excluded.ended_at_ns, 0)) > (workers, ifnull(ended_at_ns, 0));

DELETE FROM temp.merge_process;
INSERT INTO temp.merge_process (input, output)
SELECT p.id, m.id
FROM temp.merge_run r
JOIN input.process p ON p.run = r.input
JOIN main.process m ON m.run = r.output AND m.ordinal = p.ordinal;
