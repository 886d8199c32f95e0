SELECT id, uuid, started_at, scenario, tag FROM (
  SELECT r.id, r.uuid, strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch')
    AS started_at, s.name AS scenario, r.tag, r.started_at_ns
  FROM run r JOIN scenario s ON s.id = r.scenario
  WHERE r.uuid >= :prefix AND r.uuid < :prefix || 'g')
ORDER BY started_at_ns DESC, id DESC LIMIT 9;
