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
