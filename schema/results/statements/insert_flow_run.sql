INSERT INTO flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
VALUES (:case_run, :flow, :n, :median_ns, :p5_ns, :p95_ns);
