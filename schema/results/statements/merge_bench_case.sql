INSERT INTO main.bench_case (
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache)
SELECT
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache
FROM input.bench_case i
WHERE NOT EXISTS (SELECT 1 FROM main.bench_case m WHERE m.key = i.key)
ORDER BY i.id;

DELETE FROM temp.merge_bench_case;
INSERT INTO temp.merge_bench_case (input, output)
SELECT i.id, m.id FROM input.bench_case i JOIN main.bench_case m ON m.key = i.key;

INSERT INTO main.flow (
  bench_case, ordinal, role, method, source_place, source_index, source_memory, target_place,
  target_index, target_memory, initiator, staged, size_bytes, gpu, threads, kernel_variant,
  kernel_block, kernel_grid, kernel_vector_bytes, shape_width_bytes, shape_height, shape_depth,
  shape_pitch_bytes, unified_mode, unified_touch_by, unified_advise, unified_stride_bytes)
SELECT
  b.output, f.ordinal, f.role, f.method, f.source_place, f.source_index, f.source_memory,
  f.target_place, f.target_index, f.target_memory, f.initiator, f.staged, f.size_bytes, f.gpu,
  f.threads, f.kernel_variant, f.kernel_block, f.kernel_grid, f.kernel_vector_bytes,
  f.shape_width_bytes, f.shape_height, f.shape_depth, f.shape_pitch_bytes, f.unified_mode,
  f.unified_touch_by, f.unified_advise, f.unified_stride_bytes
FROM temp.merge_bench_case b
JOIN input.flow f ON f.bench_case = b.input
WHERE true
ON CONFLICT (bench_case, ordinal) DO NOTHING;

INSERT INTO main.chase (
  bench_case, space, gpu, memory_place, memory_index, memory, footprint_bytes, stride_bytes,
  hop_order, cache, threads, blocks, hops)
SELECT
  b.output, c.space, c.gpu, c.memory_place, c.memory_index, c.memory, c.footprint_bytes,
  c.stride_bytes, c.hop_order, c.cache, c.threads, c.blocks, c.hops
FROM temp.merge_bench_case b
JOIN input.chase c ON c.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.overhead (
  bench_case, operation, gpu, memory_place, memory_index, memory, size_bytes)
SELECT
  b.output, o.operation, o.gpu, o.memory_place, o.memory_index, o.memory, o.size_bytes
FROM temp.merge_bench_case b
JOIN input.overhead o ON o.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.stream (
  bench_case, op, number_type, memory_place, memory_index, memory, size_bytes, passes, threads, gpu,
  block, grid, vector_bytes, unroll, clock)
SELECT
  b.output, s.op, s.number_type, s.memory_place, s.memory_index, s.memory, s.size_bytes, s.passes,
  s.threads, s.gpu, s.block, s.grid, s.vector_bytes, s.unroll, s.clock
FROM temp.merge_bench_case b
JOIN input.stream s ON s.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;

INSERT INTO main.arithmetic (
  bench_case, op, number_type, measure, gpu, ilp, block, grid, instructions)
SELECT
  b.output, a.op, a.number_type, a.measure, a.gpu, a.ilp, a.block, a.grid, a.instructions
FROM temp.merge_bench_case b
JOIN input.arithmetic a ON a.bench_case = b.input
WHERE true
ON CONFLICT (bench_case) DO NOTHING;
