-- Schema 1.31, with haul 0.2.0: the kind of note "l2_parts".

PRAGMA user_version = 1031;
