INSERT INTO trial (case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles)
VALUES (:case_run, :ordinal, :phase, :status, :iterations, :start_ns, :elapsed_ns, :cycles);
