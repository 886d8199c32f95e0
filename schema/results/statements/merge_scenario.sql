INSERT INTO main.scenario (key, name, description, text, resolved)
SELECT key, name, description, text, resolved
FROM input.scenario i
WHERE NOT EXISTS (SELECT 1 FROM main.scenario m WHERE m.key = i.key)
ORDER BY i.id;
