-- Schema 1.25, with haul 0.2.0: v_driver takes half the time.

PRAGMA user_version = 1025;
