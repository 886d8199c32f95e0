-- Schema 1.6, with haul 0.2.0: what the reader of a number must know is data (case_note), and the words of a command
-- are kept as they were given.
CREATE TABLE case_note (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0), -- first those on the measurement, then those on what slowed it
  kind TEXT NOT NULL,   -- v_note_kind has its sentence
  gpu INTEGER,          -- NULL: the host, or none
  what TEXT,            -- a name: of a reason, of a program
  amount REAL, amount2 REAL, amount3 REAL, amount4 REAL,
  PRIMARY KEY (case_run, ordinal)
) WITHOUT ROWID;

ALTER TABLE run ADD COLUMN argv TEXT; -- JSON: the words after the program's name; NULL: recorded before 1.6

-- Until now they were sentences, with "; " between.
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount, amount2, amount3, amount4)
WITH RECURSIVE
  part (case_run, slows, n, text, rest) AS (
    SELECT id, 0, 0, NULL, note || '; ' FROM case_run WHERE note <> ''
    UNION ALL
    SELECT id, 1, 0, NULL, slowed_by || '; ' FROM case_run WHERE slowed_by <> ''
    UNION ALL
    SELECT case_run, slows, n + 1, substr(rest, 1, instr(rest, '; ') - 1), substr(rest, instr(rest, '; ') + 2)
    FROM part WHERE rest <> ''),
  placed AS (
    SELECT case_run, slows, n, text,
      CASE
        WHEN slows AND text GLOB 'gpu[0-9]* *' THEN CAST(substr(text, 4) AS INTEGER)
        WHEN slows AND text GLOB 'PCIe link of gpu[0-9]* *' THEN CAST(substr(text, 17) AS INTEGER)
      END AS gpu
    FROM part WHERE n > 0),
  place AS (SELECT *, ifnull('gpu' || gpu, 'the host') AS place FROM placed),
  tail AS (
    SELECT *,
      CASE WHEN slows AND text LIKE place || ' throttled by % for %' THEN substr(text, length(place) + 15) END AS throttled,
      CASE WHEN slows AND text LIKE place || ' in use by %' THEN substr(text, length(place) + 12) END AS used,
      CASE WHEN slows AND text LIKE place || ' shared with another haul run%'
        THEN substr(text, length(place) + 30) END AS shared,
      CASE WHEN slows AND text LIKE 'PCIe link of ' || place || ' at gen% x%, its best is gen% x%'
        THEN substr(text, length(place) + 21) END AS link
    FROM place),
  best AS (SELECT *, substr(link, instr(link, 'best is gen') + 11) AS best FROM tail)
SELECT case_run, row_number() OVER (PARTITION BY case_run ORDER BY slows, n) - 1,
  CASE
    WHEN NOT slows THEN 'remark'
    WHEN throttled IS NOT NULL THEN 'throttled'
    WHEN used GLOB 'pid [0-9]*, [0-9]* % busy' THEN 'in_use'
    WHEN used IS NOT NULL THEN 'in_use_unmeasured'
    WHEN shared LIKE ', pid %' THEN 'shared'
    WHEN shared = '' THEN 'shared_unnamed'
    WHEN link IS NOT NULL THEN 'pcie_link'
    ELSE 'slowed'
  END,
  gpu,
  CASE
    WHEN throttled IS NOT NULL THEN substr(throttled, 1, instr(throttled, ' for ') - 1)
    WHEN used GLOB 'pid [0-9]*, [0-9]* % busy' THEN substr(used, 1, instr(used, ', ') - 1)
    WHEN used IS NOT NULL THEN used
    WHEN shared LIKE ', pid %' THEN substr(shared, 3)
    WHEN shared = '' OR link IS NOT NULL THEN NULL
    ELSE text
  END,
  CASE
    WHEN throttled IS NOT NULL THEN CAST(substr(throttled, instr(throttled, ' for ') + 5) AS REAL)
    WHEN used GLOB 'pid [0-9]*, [0-9]* % busy' THEN CAST(substr(used, instr(used, ', ') + 2) AS REAL)
    WHEN link IS NOT NULL THEN CAST(link AS REAL)
  END,
  CAST(substr(link, instr(link, ' x') + 2) AS REAL),
  CAST(best AS REAL),
  CAST(substr(best, instr(best, ' x') + 2) AS REAL)
FROM best;

UPDATE case_run SET note = NULL, slowed_by = NULL WHERE note IS NOT NULL OR slowed_by IS NOT NULL;
DROP INDEX case_run_slowed;

PRAGMA user_version = 1006;
