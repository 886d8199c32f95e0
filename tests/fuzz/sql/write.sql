INSERT INTO run SELECT * FROM run; ATTACH 'x' AS y; PRAGMA journal_mode = WAL
