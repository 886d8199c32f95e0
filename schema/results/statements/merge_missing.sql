-- A column that the output's schema has and the attached file's has not.
SELECT t.name AS "table", c.name AS "column"
FROM main.sqlite_master t, pragma_table_info(t.name, 'main') c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
  AND NOT EXISTS (
    SELECT 1 FROM input.sqlite_master i, pragma_table_info(i.name, 'input') d
    WHERE i.type = 'table' AND i.name = t.name AND d.name = c.name)
ORDER BY t.name, c.cid
LIMIT 1;
