INSERT INTO overhead (
  bench_case, operation, gpu, memory_place, memory_index, memory, size_bytes)
VALUES (
  :bench_case, :operation, nullif(:gpu, -1), :memory_place, :memory_index, :memory, :size_bytes);
