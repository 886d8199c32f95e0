-- The GPUs of a run and their links, by which expectations know a machine.
--
-- One row per GPU. Expectations name their machines by these columns.
--
-- columns: v_gpu
-- column pcie_generation, pcie_width: best generation and width that both ends of the link can
-- column nvlink_version: follows from the compute capability
-- column nvlink_links: number of NVLinks of the best connected GPU of the machine. So a GPU that lost some is compared
--   with what it should have
-- column c2c: (0 / 1) 1: a chip-to-chip link leads to the host
--
-- about: machine
--
-- narrow: uuid,numa_node,simulated,host_name,c2c,nvlink_version,driver_version
--
-- empty: the run found no GPU
--
-- :run (run, default latest) the run to show
SELECT
  'gpu' || d.number AS gpu,
  d.name AS name,
  d.pcie_generation_max AS pcie_generation,
  d.pcie_width_max AS pcie_width,
  CASE WHEN d.compute_major BETWEEN 6 AND 9 THEN d.compute_major - 5 WHEN d.compute_major > 9 THEN 5 END
    AS nvlink_version,
  (SELECT max(l.nvlink_count) FROM link l WHERE l.environment = d.environment AND l.place = 'gpu')
    AS nvlink_links,
  ifnull(d.c2c_bytes_per_second, 0) > 0 AS c2c,
  d.numa_node AS numa_node,
  e.driver_version AS driver_version,
  e.simulated AS simulated,
  e.host_name AS host_name,
  d.uuid AS uuid
FROM run r
JOIN environment e ON e.id = r.environment
JOIN device d ON d.environment = e.id AND d.place = 'gpu'
WHERE r.id = :run
ORDER BY d.number;
