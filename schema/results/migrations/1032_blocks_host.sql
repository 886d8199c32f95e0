-- Schema 1.32, with haul 0.2.0: the sentence of the note "blocks_host".

PRAGMA user_version = 1032;
