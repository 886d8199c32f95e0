SELECT name, gpu, CASE state WHEN 'ok' THEN value END AS value
FROM environment_fact WHERE environment = :environment ORDER BY name, gpu;
