-- Schema 1.3, with haul 0.2.0: what slowed a number stands beside it, and who measures a run.

PRAGMA user_version = 1003;
