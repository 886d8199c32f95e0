-- What is in a file that haul did not make.

-- name: objects
-- Without what SQLite makes by itself: the indexes of constraints, and statistics of ANALYZE.
SELECT type, name, sql FROM main.sqlite_master
WHERE NOT (type = 'index' AND sql IS NULL AND name GLOB 'sqlite_autoindex_*')
  AND NOT (type = 'table' AND sql IN ('CREATE TABLE sqlite_stat1(tbl,idx,stat)',
                                      'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'))
ORDER BY type, name;

-- name: no_plain_table
-- A row: it is a view, or has columns that are computed. pragma_table_list would tell both, but prepares every view
-- of the file each time.
SELECT 1 FROM pragma_table_xinfo(:name, 'main') WHERE :view OR hidden <> 0;

-- name: encoding
-- No database of haul's is in UTF-16, and SQLite attaches none of another encoding.
SELECT encoding FROM pragma_encoding WHERE encoding <> 'UTF-8';
