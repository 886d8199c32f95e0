INSERT INTO trial (case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns)
VALUES (:case_run, :ordinal, :phase, :status, :iterations, :start_ns, :elapsed_ns);
