-- Sizes at which a rate falls by more than 20 % against the next smaller size.
--
-- One row per step, of curves that differ in the size, or the size of pieces, alone (v_step).
--
-- empty: no rate falls from one size to the next
--
-- columns: v_step
-- column block, path: block and path of the case at the larger size
-- column size_bytes, gbps: the size from which on it is slower, and the rate there
-- column size_bytes_before, gbps_before: the next smaller size, and the rate there
--
-- about: results
--
-- narrow: run,axes
--
-- :run (run, default latest) the run to show
SELECT
  run AS run,
  block AS block,
  path AS path,
  axes AS axes,
  size_bytes AS size_bytes,
  gbps AS gbps,
  size_bytes_before AS size_bytes_before,
  gbps_before AS gbps_before,
  change_percent AS change_percent
FROM v_step
WHERE run = :run
ORDER BY change_percent;
