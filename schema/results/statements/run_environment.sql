-- What may not change between the parts of one run, as name and value.
SELECT 'simulated' AS name, CAST(e.simulated AS TEXT) AS value
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'host_name', e.host_name
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'driver_version', coalesce(e.driver_version, 'none')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'kernel', coalesce(e.kernel, 'unknown')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'cpu_model', coalesce(e.cpu_model, 'unknown')
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'gpu_count', CAST(e.gpu_count AS TEXT)
FROM run r JOIN environment e ON e.id = r.environment WHERE r.id = :run
UNION ALL SELECT 'gpu' || d.number, d.uuid || ' at ' || d.pci_address
FROM run r JOIN device d ON d.environment = r.environment AND d.place = 'gpu' WHERE r.id = :run;
