-- Cases and the plan of a run.

-- name: find_bench_case
SELECT id FROM bench_case WHERE key = :key;

-- name: insert_bench_case
INSERT INTO bench_case (
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache)
VALUES (
  :key, :case_key, :definition, :block, :name, :kind, :axes, :path, :payload_bytes, :operations,
  :host_cache, :device_cache);

-- name: insert_flow
INSERT INTO flow (
  bench_case, ordinal, role, method, source_place, source_index, source_memory, target_place,
  target_index, target_memory, initiator, staged, size_bytes, gpu, threads, kernel_variant,
  kernel_block, kernel_grid, kernel_vector_bytes, shape_width_bytes, shape_height, shape_depth,
  shape_pitch_bytes, unified_mode, unified_touch_by, unified_advise, unified_stride_bytes)
VALUES (
  :bench_case, :ordinal, :role, :method, :source_place, :source_index, :source_memory,
  :target_place, :target_index, :target_memory, :initiator, :staged, :size_bytes, :gpu,
  nullif(:threads, 0), :kernel_variant, nullif(:kernel_block, 0), nullif(:kernel_grid, 0),
  nullif(:kernel_vector_bytes, 0), nullif(:shape_width_bytes, 0), nullif(:shape_height, 0),
  nullif(:shape_depth, 0), nullif(:shape_pitch_bytes, 0), :unified_mode, :unified_touch_by,
  :unified_advise, nullif(:unified_stride_bytes, 0));

-- name: insert_chase
INSERT INTO chase (
  bench_case, space, gpu, memory_place, memory_index, memory, footprint_bytes, stride_bytes,
  hop_order, cache, threads, blocks, hops)
VALUES (
  :bench_case, :space, :gpu, :memory_place, :memory_index, :memory, :footprint_bytes,
  :stride_bytes, :hop_order, :cache, :threads, :blocks, :hops);

-- name: insert_stream
INSERT INTO stream (
  bench_case, op, number_type, memory_place, memory_index, memory, size_bytes, passes, threads, gpu,
  block, grid, vector_bytes, unroll, clock)
VALUES (
  :bench_case, :op, :number_type, :memory_place, :memory_index, :memory, :size_bytes, :passes,
  nullif(:threads, 0), :gpu, nullif(:block, 0), nullif(:grid, 0), nullif(:vector_bytes, 0),
  nullif(:unroll, 0), :clock);

-- name: insert_arithmetic
INSERT INTO arithmetic (
  bench_case, op, number_type, measure, gpu, ilp, block, grid, instructions)
VALUES (
  :bench_case, :op, :number_type, :measure, :gpu, :ilp, :block, :grid, :instructions);

-- name: insert_overhead
INSERT INTO overhead (
  bench_case, operation, gpu, memory_place, memory_index, memory, size_bytes)
VALUES (
  :bench_case, :operation, nullif(:gpu, -1), :memory_place, :memory_index, :memory, :size_bytes);

-- name: find_plan_case
SELECT p.bench_case
FROM plan_case p JOIN bench_case b ON b.id = p.bench_case
WHERE b.key = :key AND p.run = :run;

-- name: insert_plan_case
INSERT INTO plan_case (
  run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes, operations_per_sm,
  estimate_ns, delta)
VALUES (
  :run, :bench_case, :position, :limited_by, nullif(:peak_bytes_per_second, 0), :traffic_bytes,
  nullif(:operations_per_sm, 0), :estimate_ns, nullif(:delta, 0.0));
