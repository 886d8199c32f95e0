-- From here on the file stands still for its reader.
BEGIN;
SELECT count(*) FROM sqlite_master;
