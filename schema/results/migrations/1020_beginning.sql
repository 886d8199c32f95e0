-- Schema 1.20, with haul 0.2.0: v_result has the start of the run, the block and the method, in the views.

PRAGMA user_version = 1020;
