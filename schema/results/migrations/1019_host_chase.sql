-- Schema 1.19, with haul 0.2.0: dependent loads by a processor. Its chase has gpu -1 and the node of its threads.

ALTER TABLE chase ADD COLUMN node INTEGER; -- whose processors load, the operating system's number; NULL: a GPU's threads

PRAGMA user_version = 1019;
