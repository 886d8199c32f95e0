-- Schema 1.21, with haul 0.2.0: words of notes.

PRAGMA user_version = 1021;
