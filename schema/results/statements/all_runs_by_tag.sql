SELECT id, uuid FROM run WHERE tag = :tag ORDER BY started_at_ns, id;
