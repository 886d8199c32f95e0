SELECT r.uuid, r.status, r.origin, r.scenario_path, s.resolved, r.only_glob, r.processes
FROM run r JOIN scenario s ON s.id = r.scenario
WHERE r.id = :run;
