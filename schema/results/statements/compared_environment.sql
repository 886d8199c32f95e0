-- Every column is a fact under its name.
SELECT simulated, host_name, cuda_state, driver_version, driver_branch, kernel_module,
  cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count
FROM environment WHERE id = :environment;
