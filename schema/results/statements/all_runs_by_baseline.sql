SELECT r.id, r.uuid FROM baseline b JOIN run r ON r.id = b.run WHERE b.name = :name
ORDER BY r.started_at_ns, r.id;
