SELECT id, uuid FROM run ORDER BY started_at_ns DESC, id DESC LIMIT 1 OFFSET :before;
