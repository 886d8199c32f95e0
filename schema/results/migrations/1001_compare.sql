-- Schema 1.1: what comparing needs.

-- Runs that others are compared with, under a name that people gave them. Local to a database.
CREATE TABLE baseline (
  name TEXT NOT NULL CHECK (name <> ''),
  run INTEGER NOT NULL REFERENCES run (id),
  set_at_ns INTEGER NOT NULL,
  PRIMARY KEY (name, run)
) WITHOUT ROWID;

-- Everything that comparing reads of a case, in one place: it never touches the wide rows.
DROP INDEX case_run_by_bench_case;
CREATE INDEX case_run_by_bench_case ON case_run (bench_case, run, process, status, median_ns);

PRAGMA user_version = 1001;
