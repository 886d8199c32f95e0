SELECT r.id, r.uuid, r.tag, s.name AS scenario, r.only_glob, r.origin, r.command_line,
  r.haul_version, r.started_at_ns, r.environment
FROM run r JOIN scenario s ON s.id = r.scenario WHERE r.id = :run;
