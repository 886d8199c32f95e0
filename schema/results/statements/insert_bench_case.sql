INSERT INTO bench_case (
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache)
VALUES (
  :key, :case_key, :definition, :block, :name, :kind, :axes, :path, :payload_bytes, :operations,
  :host_cache, :device_cache);
