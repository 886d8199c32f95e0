SELECT DISTINCT e.driver_version FROM environment e
WHERE e.driver_version IS NOT NULL AND EXISTS (SELECT 1 FROM run r WHERE r.environment = e.id)
ORDER BY 1 LIMIT 9;
