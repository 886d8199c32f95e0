-- Schema 1.13, with haul 0.2.0: the note link_errors, in the views.

PRAGMA user_version = 1013;
