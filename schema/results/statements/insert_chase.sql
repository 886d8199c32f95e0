INSERT INTO chase (
  bench_case, space, gpu, memory_place, memory_index, memory, footprint_bytes, stride_bytes,
  hop_order, cache, threads, blocks, hops)
VALUES (
  :bench_case, :space, :gpu, :memory_place, :memory_index, :memory, :footprint_bytes,
  :stride_bytes, :hop_order, :cache, :threads, :blocks, :hops);
