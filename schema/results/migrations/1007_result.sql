-- Schema 1.7, with haul 0.2.0: v_result, the columns that people ask for first.

PRAGMA user_version = 1007;
