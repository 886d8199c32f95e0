-- Schema 1.26, with haul 0.2.0: v_node and v_node_difference take a fifth of the time; the view v_case_flow.

PRAGMA user_version = 1026;
