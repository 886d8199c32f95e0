INSERT INTO plan_case (
  run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes, operations_per_sm,
  estimate_ns, delta)
VALUES (
  :run, :bench_case, :position, :limited_by, nullif(:peak_bytes_per_second, 0), :traffic_bytes,
  nullif(:operations_per_sm, 0), :estimate_ns, nullif(:delta, 0.0));
