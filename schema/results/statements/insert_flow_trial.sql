INSERT INTO flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns)
VALUES (:case_run, :ordinal, :flow, :start_ns, :elapsed_ns);
