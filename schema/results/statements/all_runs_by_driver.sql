SELECT r.id, r.uuid
FROM run r JOIN environment e ON e.id = r.environment
WHERE e.driver_version = :driver OR e.driver_branch IN (:driver, 'r' || :driver)
ORDER BY r.started_at_ns, r.id;
