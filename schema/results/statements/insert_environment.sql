INSERT INTO environment (
  key, simulated, host_name, source, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count)
VALUES (
  :key, :simulated, :host_name, :source, :cuda_state, :driver_version, :driver_branch,
  :kernel_module, :cuda_driver_version, :kernel, :os, :boot_id, :cpu_model, :hypervisor, :gpu_name,
  :gpu_count, :node_count);
