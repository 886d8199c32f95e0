-- Schema 1.5, with haul 0.2.0: rates above their peak are marked (above_peak, in the views), and streams past the L1 cache.

ALTER TABLE stream ADD COLUMN cache TEXT; -- nearest cache that loads may hit: l2; NULL: l1

PRAGMA user_version = 1005;
