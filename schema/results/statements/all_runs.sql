SELECT id FROM run ORDER BY started_at_ns, id;
