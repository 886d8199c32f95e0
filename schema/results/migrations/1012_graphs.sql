-- Schema 1.12, with haul 0.2.0: copies in CUDA graphs, runs of pieces, and rates that fall from one size to the next.

ALTER TABLE flow ADD COLUMN graph INTEGER;     -- 1: a trial launches a graph of its copies; NULL: it makes the calls
ALTER TABLE flow ADD COLUMN piece_run INTEGER; -- pieces that follow each other in memory; NULL: one

PRAGMA user_version = 1012;
