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
