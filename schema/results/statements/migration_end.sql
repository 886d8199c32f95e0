PRAGMA foreign_keys = ON;
