SELECT id, uuid FROM run WHERE tag = :tag ORDER BY started_at_ns DESC, id DESC LIMIT 1;
