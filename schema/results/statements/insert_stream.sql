INSERT INTO stream (
  bench_case, op, number_type, memory_place, memory_index, memory, size_bytes, passes, threads, gpu,
  block, grid, vector_bytes, unroll, clock)
VALUES (
  :bench_case, :op, :number_type, :memory_place, :memory_index, :memory, :size_bytes, :passes,
  nullif(:threads, 0), :gpu, nullif(:block, 0), nullif(:grid, 0), nullif(:vector_bytes, 0),
  nullif(:unroll, 0), :clock);
