-- Every connection: how it is set up, its transactions, the version of the schema and what
-- migrating needs.

-- name: set_up
-- Every connection. synchronous = FULL: with a rollback journal and NORMAL, a power cut at the wrong
-- moment can leave a file that is damaged; a case costs one transaction, so FULL costs milliseconds
-- beside a measurement of seconds, and it is paid while nothing is being measured.
PRAGMA foreign_keys = ON;
PRAGMA trusted_schema = OFF;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16000; -- KiB: a case with 10^5 trials does not spill

-- name: query_only
PRAGMA query_only = ON;

-- name: begin
BEGIN IMMEDIATE;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: version
SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_master) AS objects
FROM pragma_application_id a, pragma_user_version v;

-- name: migration_start
-- Tables may be rebuilt: what refers to them is checked at the end. No effect inside a transaction.
PRAGMA foreign_keys = OFF;

-- name: migration_end
PRAGMA foreign_keys = ON;

-- name: drop_views
-- The statements that drop our views; people's own have other names.
SELECT 'DROP VIEW "' || name || '"' FROM sqlite_master WHERE type = 'view' AND name GLOB 'v_*';

-- name: broken_references
SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1;
