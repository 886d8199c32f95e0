SELECT max(started_at_ns) FROM run WHERE origin = 'measured';
