INSERT INTO baseline (name, run, set_at_ns) VALUES (:name, :run, :set_at_ns);
