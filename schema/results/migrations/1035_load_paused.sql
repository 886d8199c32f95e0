-- Schema 1.35, with haul 0.2.0: the note "load_paused".

PRAGMA user_version = 1035;
