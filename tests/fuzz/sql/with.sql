WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT json_extract(:run, '$.a'), printf('%d', x) FROM c
