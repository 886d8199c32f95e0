-- Schema 1.30, with haul 0.2.0: the sentences of v_note_kind.

PRAGMA user_version = 1030;
