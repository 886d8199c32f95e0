-- A worker that replaces one that died goes on with the same process.
INSERT INTO process (run, ordinal, pid, workers, started_at_ns)
VALUES (:run, :ordinal, :pid, 1, :started_at_ns)
ON CONFLICT (run, ordinal) DO UPDATE SET
  pid = excluded.pid, workers = workers + 1, ended_at_ns = NULL;
