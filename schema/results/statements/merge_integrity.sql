PRAGMA integrity_check(1);
