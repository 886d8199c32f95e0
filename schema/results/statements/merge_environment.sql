-- What is known by the key of its content is inserted once, with the rows that belong to it.
INSERT INTO main.environment (
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count)
SELECT
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count
FROM input.environment i
WHERE NOT EXISTS (SELECT 1 FROM main.environment m WHERE m.key = i.key)
ORDER BY i.id;

INSERT INTO main.environment_fact (environment, name, gpu, state, value)
SELECT m.id, f.name, f.gpu, f.state, f.value
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.environment_fact f ON f.environment = i.id
WHERE true
ON CONFLICT (environment, name, gpu) DO NOTHING;

INSERT INTO main.device (
  environment, place, number, memory_bytes, cpu_count, name, uuid, pci_address, numa_node,
  cuda_ordinal, compute_major, compute_minor, sm_count, copy_engine_count, l2_bytes,
  sm_clock_max_khz, memory_clock_khz, memory_bus_bits, pcie_generation_max, pcie_width_max,
  nvlink_count, nvlink_bytes_per_second, c2c_bytes_per_second, mig_enabled)
SELECT
  m.id, d.place, d.number, d.memory_bytes, d.cpu_count, d.name, d.uuid, d.pci_address, d.numa_node,
  d.cuda_ordinal, d.compute_major, d.compute_minor, d.sm_count, d.copy_engine_count, d.l2_bytes,
  d.sm_clock_max_khz, d.memory_clock_khz, d.memory_bus_bits, d.pcie_generation_max,
  d.pcie_width_max, d.nvlink_count, d.nvlink_bytes_per_second, d.c2c_bytes_per_second, d.mig_enabled
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.device d ON d.environment = i.id
WHERE true
ON CONFLICT (environment, place, number) DO NOTHING;

INSERT INTO main.link (
  environment, place, source, target, peer_access, nvlink_count, bytes_per_second, distance)
SELECT
  m.id, l.place, l.source, l.target, l.peer_access, l.nvlink_count, l.bytes_per_second, l.distance
FROM input.environment i
JOIN main.environment m ON m.key = i.key
JOIN input.link l ON l.environment = i.id
WHERE true
ON CONFLICT (environment, place, source, target) DO NOTHING;
