-- Schema 1.4: a file says of which text of the schema it was made. Between two releases that text changes, and
-- a version alone does not tell such a file from a released one.
CREATE TABLE schema_text (
  version INTEGER PRIMARY KEY, -- user_version; a migration adds a row
  migrations TEXT NOT NULL,    -- XXH3-128 of the migrations up to that version, 32 hexadecimal digits
  views TEXT NOT NULL          -- of the files of the views
);

PRAGMA user_version = 1004;
