-- Schema 1.16, with haul 0.2.0: the views v_host and v_node_difference.

PRAGMA user_version = 1016;
