SELECT tag FROM run WHERE tag IS NOT NULL GROUP BY tag ORDER BY max(started_at_ns) DESC LIMIT 9;
