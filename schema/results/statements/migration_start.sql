-- Tables may be rebuilt: what refers to them is checked at the end. No effect inside a transaction.
PRAGMA foreign_keys = OFF;
