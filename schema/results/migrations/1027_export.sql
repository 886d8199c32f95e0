-- Schema 1.27, with haul 0.2.0: v_case takes a third of the time; columns are as they were.

PRAGMA user_version = 1027;
