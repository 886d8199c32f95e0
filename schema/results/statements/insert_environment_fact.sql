-- A probe that answers twice is believed the first time.
INSERT OR IGNORE INTO environment_fact (environment, name, gpu, state, value)
VALUES (:environment, :name, :gpu, :state, :value);
