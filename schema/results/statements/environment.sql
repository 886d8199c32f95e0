-- The machine and the scenario of a run, each identified by the key of its content.

-- name: find_environment
SELECT id FROM environment WHERE key = :key;

-- name: insert_environment
INSERT INTO environment (
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count,
  node)
VALUES (
  :key, :simulated, :host_name, :source, :cuda_state, :driver_version, :driver_branch,
  :kernel_module, :cuda_driver_version, :kernel, :os, :boot_id, :cpu_model, :hypervisor, :gpu_name,
  :gpu_count, :node_count, :node);

-- name: insert_environment_fact
-- If a probe answers twice, the first answer counts.
INSERT OR IGNORE INTO environment_fact (environment, name, gpu, state, value)
VALUES (:environment, :name, :gpu, :state, :value);

-- name: insert_gpu
INSERT INTO device (
  environment, place, number, memory_bytes, name, uuid, pci_address, numa_node, cuda_ordinal,
  compute_major, compute_minor, sm_count, copy_engine_count, l2_bytes, sm_clock_max_khz,
  memory_clock_khz, memory_bus_bits, pcie_generation_max, pcie_width_max, nvlink_count,
  nvlink_bytes_per_second, c2c_bytes_per_second, mig_enabled)
VALUES (
  :environment, 'gpu', :number, :memory_bytes, :name, :uuid, :pci_address,
  nullif(:numa_node, -1), nullif(:cuda_ordinal, -1), :compute_major, :compute_minor, :sm_count,
  :copy_engine_count, :l2_bytes, :sm_clock_max_khz, :memory_clock_khz, :memory_bus_bits,
  :pcie_generation_max, :pcie_width_max, :nvlink_count, :nvlink_bytes_per_second,
  :c2c_bytes_per_second, :mig_enabled);

-- name: insert_node
INSERT INTO device (environment, place, number, memory_bytes, cpu_count)
VALUES (:environment, 'numa', :number, :memory_bytes, :cpu_count);

-- name: insert_gpu_link
INSERT INTO link (environment, place, source, target, peer_access, nvlink_count, bytes_per_second)
VALUES (:environment, 'gpu', :source, :target, :peer_access, :nvlink_count,
  nullif(:bytes_per_second, 0));

-- name: insert_node_link
INSERT INTO link (environment, place, source, target, distance)
VALUES (:environment, 'numa', :source, :target, nullif(:distance, 0));

-- name: find_scenario
SELECT id FROM scenario WHERE key = :key;

-- name: insert_scenario
INSERT INTO scenario (key, name, description, text, resolved)
VALUES (:key, :name, :description, :text, :resolved);

-- name: find_fleet
SELECT id FROM fleet WHERE key = :key;

-- name: insert_fleet
INSERT INTO fleet (key, name, expected) VALUES (:key, :name, :expected);

-- name: machine_of_run
SELECT e.id, e.host_name, e.node, e.simulated, e.cuda_state, e.source
FROM run r JOIN environment e ON e.id = r.environment
WHERE r.id = :run;

-- name: devices_of_machine
-- Columns have the names of the keys of a machine file.
SELECT * FROM device WHERE environment = :environment AND place = :place ORDER BY number;

-- name: links_of_machine
SELECT source, target, peer_access, nvlink_count, bytes_per_second, distance
FROM link WHERE environment = :environment AND place = :place;

-- name: facts_of_machine
SELECT name, gpu, state, value FROM environment_fact WHERE environment = :environment;
