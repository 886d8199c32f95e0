-- Which row of the input is which row of the output: ids hold in one file only. In temporary tables,
-- which go to disk where they grow.
CREATE TEMP TABLE merge_run (
  input INTEGER PRIMARY KEY,
  output INTEGER,           -- NULL until the run is inserted
  known INTEGER NOT NULL,   -- 1: the output had it before
  later INTEGER NOT NULL,   -- 1: known, and the input's has come further
  results INTEGER NOT NULL  -- of the run that are added
);
CREATE TEMP TABLE merge_bench_case (input INTEGER PRIMARY KEY, output INTEGER NOT NULL);
CREATE TEMP TABLE merge_process (input INTEGER PRIMARY KEY, output INTEGER NOT NULL);
CREATE TEMP TABLE merge_case_run (
  ordinal INTEGER PRIMARY KEY, -- 1, 2, ...: output follows the ids that are there
  input INTEGER NOT NULL,
  output INTEGER
);
