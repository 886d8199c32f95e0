-- Schema 1.29, with haul 0.2.0: the kind of note "green_context"; v_case_flow.way of copies between nodes and of pages to the
-- host.

PRAGMA user_version = 1029;
