-- Cases and the plan of a run.

-- name: find_bench_case
SELECT id FROM bench_case WHERE key = :key;

-- name: insert_bench_case
INSERT INTO bench_case (
  key, case_key, definition, block, name, kind, axes, path, payload_bytes, operations,
  host_cache, device_cache, host_written, figure, figure_amount)
VALUES (
  :key, :case_key, :definition, :block, :name, :kind, :axes, :path, :payload_bytes, :operations,
  CASE :host_cache WHEN 'flushed' THEN 'flushed' ELSE 'warm' END, :device_cache, :host_cache = 'written', :figure,
  :figure_amount);

-- name: settings
-- Fills the other columns of a new case, recorded or merged. A definition has what all kinds have under the same names:
-- "memory" is read, "gpu" or "node" does the work, "size_bytes" is the size. Where flows are measured, the first one
-- counts. 0 means that the engine chooses, for which a column has NULL.
CREATE TEMP TRIGGER IF NOT EXISTS setting AFTER INSERT ON main.bench_case BEGIN
UPDATE bench_case SET (
  method, gpu, source_place, source_index, source_memory,
  target_place, target_index, target_memory, size_bytes, operation, stride_bytes, hops, space, hop_order, cache,
  number_type, measure, ilp, passes, threads, block_threads, grid_blocks, access, alive, nodes, handles) = (
SELECT
  json_extract(flow, '$.method'),
  CASE
    WHEN flow IS NULL THEN coalesce(json_extract(own, '$.gpu'),
      CASE json_extract(own, '$.memory.place') WHEN 'gpu' THEN json_extract(own, '$.memory.index') END)
    -- The one that starts the flow, else the one at the other end.
    WHEN json_extract(flow, '$.target.place') <> 'gpu'
      OR (json_extract(flow, '$.source.place') = 'gpu' AND json_extract(flow, '$.initiator') = 'source')
    THEN CASE json_extract(flow, '$.source.place') WHEN 'gpu' THEN json_extract(flow, '$.source.index') END
    ELSE json_extract(flow, '$.target.index') END,
  coalesce(json_extract(flow, '$.source.place'), json_extract(own, '$.memory.place')),
  coalesce(json_extract(flow, '$.source.index'), json_extract(own, '$.memory.index')),
  coalesce(json_extract(flow, '$.source.memory'), json_extract(own, '$.memory.memory')),
  coalesce(json_extract(flow, '$.target.place'),
    CASE WHEN json_extract(own, '$.node') IS NOT NULL THEN 'numa'
      WHEN json_extract(own, '$.gpu') IS NOT NULL OR json_extract(own, '$.memory.place') = 'gpu' THEN 'gpu' END),
  coalesce(json_extract(flow, '$.target.index'), json_extract(own, '$.node'), json_extract(own, '$.gpu'),
    CASE json_extract(own, '$.memory.place') WHEN 'gpu' THEN json_extract(own, '$.memory.index') END),
  json_extract(flow, '$.target.memory'),
  coalesce(json_extract(flow, '$.size_bytes'), json_extract(own, '$.size_bytes'), json_extract(own, '$.footprint_bytes')),
  coalesce(json_extract(own, '$.operation'), json_extract(own, '$.op'), json_extract(flow, '$.compute.op'),
    json_extract(flow, '$.op')),
  json_extract(own, '$.stride_bytes'),
  json_extract(own, '$.hops'),
  json_extract(own, '$.space'),
  CASE NEW.kind WHEN 'chase' THEN json_extract(own, '$.order') END,
  json_extract(own, '$.cache'),
  json_extract(own, '$.type'),
  json_extract(own, '$.measure'),
  json_extract(own, '$.ilp'),
  json_extract(own, '$.passes'),
  nullif(coalesce(json_extract(flow, '$.threads'), json_extract(flow, '$.unified.threads'),
    CASE WHEN NEW.kind <> 'chase' THEN json_extract(own, '$.threads') END), 0),
  nullif(coalesce(json_extract(flow, '$.kernel.block'), json_extract(own, '$.block'),
    CASE NEW.kind WHEN 'chase' THEN json_extract(own, '$.threads') END), 0),
  nullif(coalesce(json_extract(flow, '$.kernel.grid'), json_extract(own, '$.grid'), json_extract(own, '$.blocks')), 0),
  json_extract(own, '$.access'),
  json_extract(own, '$.alive'),
  json_extract(own, '$.nodes'),
  json_extract(own, '$.handles')
FROM (
  SELECT json_extract(NEW.definition, '$.' || NEW.kind) AS own,
    (SELECT f.value FROM json_each(NEW.definition, '$.flows') f WHERE json_extract(f.value, '$.role') = 'measured'
     ORDER BY f.key LIMIT 1) AS flow))
WHERE id = NEW.id;
END;

-- name: later_settings
-- Gives the trigger for the columns behind "handles": settings that a migration added since. Such a
-- column has the name that the setting has in the definition, and v_case and v_run_case have it too (database/settings).
SELECT 'CREATE TEMP TRIGGER IF NOT EXISTS later_setting AFTER INSERT ON main.bench_case BEGIN UPDATE bench_case SET '
  || group_concat(printf('"%w" = json_extract(NEW.definition, ''$.'' || NEW.kind || ''.%w'')', c.name, c.name), ', ')
  || ' WHERE id = NEW.id; END'
FROM pragma_table_info('bench_case') c
WHERE c.cid > (SELECT cid FROM pragma_table_info('bench_case') WHERE name = 'handles');

-- Further rows of a case: its flows (insert_transfer), and for older kinds a row in the table of the kind (insert_KIND).
-- They come out of :definition (runner/plan/definition.h). It has none of them if the selectors found nothing.

-- name: insert_transfer
INSERT INTO flow (
  bench_case, ordinal, role, method, source_place, source_index, source_memory, target_place,
  target_index, target_memory, initiator, staged, size_bytes, gpu, threads, kernel_variant,
  kernel_block, kernel_grid, kernel_vector_bytes, shape_width_bytes, shape_height, shape_depth,
  shape_pitch_bytes, unified_mode, unified_touch_by, unified_advise, unified_stride_bytes,
  unified_access, unified_order, unified_passes, unified_again, unified_together, copies, stream,
  pieces, piece_bytes, piece_places, submit, graph, piece_run, compute_op, compute_sm_percent,
  compute_intensity, signal_op, signal_flags,
  signal_addresses, priority, source_process, source_share, target_process, target_share, compute_sm_share)
SELECT
  :bench_case,
  f.key,
  json_extract(f.value, '$.role'),
  json_extract(f.value, '$.method'),
  json_extract(f.value, '$.source.place'),
  json_extract(f.value, '$.source.index'),
  json_extract(f.value, '$.source.memory'),
  json_extract(f.value, '$.target.place'),
  json_extract(f.value, '$.target.index'),
  json_extract(f.value, '$.target.memory'),
  json_extract(f.value, '$.initiator'),
  json_extract(f.value, '$.staged'),
  json_extract(f.value, '$.size_bytes'),
  -- The GPU whose clocks matter: the one that starts the flow, else the one at the other end.
  CASE
    WHEN json_extract(f.value, '$.target.place') <> 'gpu'
      OR (json_extract(f.value, '$.source.place') = 'gpu'
          AND json_extract(f.value, '$.initiator') = 'source')
    THEN CASE json_extract(f.value, '$.source.place')
           WHEN 'gpu' THEN json_extract(f.value, '$.source.index') END
    ELSE json_extract(f.value, '$.target.index')
  END,
  nullif(coalesce(json_extract(f.value, '$.threads'),
                  json_extract(f.value, '$.unified.threads')), 0),
  json_extract(f.value, '$.kernel.variant'),
  nullif(json_extract(f.value, '$.kernel.block'), 0),
  nullif(json_extract(f.value, '$.kernel.grid'), 0),
  nullif(json_extract(f.value, '$.kernel.vector_bytes'), 0),
  json_extract(f.value, '$.shape.width_bytes'),
  json_extract(f.value, '$.shape.height'),
  json_extract(f.value, '$.shape.depth'),
  json_extract(f.value, '$.shape.pitch_bytes'),
  json_extract(f.value, '$.unified.mode'),
  json_extract(f.value, '$.unified.touch_by'),
  json_extract(f.value, '$.unified.advise'),
  nullif(json_extract(f.value, '$.unified.stride_bytes'), 0),
  json_extract(f.value, '$.unified.access'),
  json_extract(f.value, '$.unified.order'),
  json_extract(f.value, '$.unified.passes'),
  json_extract(f.value, '$.unified.again'),
  json_extract(f.value, '$.unified.together'),
  json_extract(f.value, '$.copies'),
  json_extract(f.value, '$.stream'),
  json_extract(f.value, '$.scatter.pieces'),
  json_extract(f.value, '$.scatter.piece_bytes'),
  json_extract(f.value, '$.scatter.places'),
  json_extract(f.value, '$.scatter.submit'),
  json_extract(f.value, '$.graph'),
  json_extract(f.value, '$.scatter.run'),
  json_extract(f.value, '$.compute.op'),
  json_extract(f.value, '$.compute.sm_percent'),
  json_extract(f.value, '$.compute.intensity'),
  CASE json_extract(f.value, '$.method') WHEN 'signal' THEN json_extract(f.value, '$.op') END,
  json_extract(f.value, '$.flags'),
  json_extract(f.value, '$.addresses'),
  json_extract(f.value, '$.priority'),
  json_extract(f.value, '$.source.process'),
  json_extract(f.value, '$.source.share'),
  json_extract(f.value, '$.target.process'),
  json_extract(f.value, '$.target.share'),
  json_extract(f.value, '$.compute.sm_share')
FROM json_each(:definition, '$.flows') f;

-- name: insert_chase
INSERT INTO chase (
  bench_case, space, gpu, memory_place, memory_index, memory, footprint_bytes, stride_bytes,
  hop_order, cache, threads, blocks, hops, access, element_bytes, node)
SELECT
  :bench_case,
  json_extract(d.value, '$.space'),
  coalesce(json_extract(d.value, '$.gpu'), -1),
  json_extract(d.value, '$.memory.place'),
  json_extract(d.value, '$.memory.index'),
  json_extract(d.value, '$.memory.memory'),
  json_extract(d.value, '$.footprint_bytes'),
  json_extract(d.value, '$.stride_bytes'),
  json_extract(d.value, '$.order'),
  json_extract(d.value, '$.cache'),
  json_extract(d.value, '$.threads'),
  json_extract(d.value, '$.blocks'),
  json_extract(d.value, '$.hops'),
  json_extract(d.value, '$.access'),
  json_extract(d.value, '$.element_bytes'),
  json_extract(d.value, '$.node')
FROM json_each(:definition) d WHERE d.key = 'chase';

-- name: insert_stream
INSERT INTO stream (
  bench_case, op, number_type, memory_place, memory_index, memory, size_bytes, passes, threads, gpu,
  block, grid, vector_bytes, unroll, clock, repeat_order, cache)
SELECT
  :bench_case,
  json_extract(d.value, '$.op'),
  json_extract(d.value, '$.type'),
  json_extract(d.value, '$.memory.place'),
  json_extract(d.value, '$.memory.index'),
  json_extract(d.value, '$.memory.memory'),
  json_extract(d.value, '$.size_bytes'),
  json_extract(d.value, '$.passes'),
  nullif(json_extract(d.value, '$.threads'), 0),
  CASE json_extract(d.value, '$.memory.place')
    WHEN 'gpu' THEN json_extract(d.value, '$.memory.index') END,
  nullif(json_extract(d.value, '$.block'), 0),
  nullif(json_extract(d.value, '$.grid'), 0),
  nullif(json_extract(d.value, '$.vector_bytes'), 0),
  nullif(json_extract(d.value, '$.unroll'), 0),
  json_extract(d.value, '$.clock'),
  json_extract(d.value, '$.order'),
  json_extract(d.value, '$.cache')
FROM json_each(:definition) d WHERE d.key = 'stream';

-- name: insert_arithmetic
INSERT INTO arithmetic (
  bench_case, op, number_type, measure, gpu, ilp, block, grid, instructions)
SELECT
  :bench_case,
  json_extract(d.value, '$.op'),
  json_extract(d.value, '$.type'),
  json_extract(d.value, '$.measure'),
  json_extract(d.value, '$.gpu'),
  json_extract(d.value, '$.ilp'),
  json_extract(d.value, '$.block'),
  json_extract(d.value, '$.grid'),
  json_extract(d.value, '$.instructions')
FROM json_each(:definition) d WHERE d.key = 'arithmetic';

-- name: insert_overhead
INSERT INTO overhead (
  bench_case, operation, gpu, memory_place, memory_index, memory, size_bytes, threads, alive, nodes,
  handles)
SELECT
  :bench_case,
  json_extract(d.value, '$.operation'),
  json_extract(d.value, '$.gpu'),
  json_extract(d.value, '$.memory.place'),
  json_extract(d.value, '$.memory.index'),
  json_extract(d.value, '$.memory.memory'),
  json_extract(d.value, '$.size_bytes'),
  json_extract(d.value, '$.threads'),
  json_extract(d.value, '$.alive'),
  json_extract(d.value, '$.nodes'),
  json_extract(d.value, '$.handles')
FROM json_each(:definition) d WHERE d.key = 'overhead';

-- name: find_plan_case
SELECT p.bench_case
FROM bench_case b CROSS JOIN plan_case p ON p.bench_case = b.id
WHERE b.key = :key AND p.run = :run;

-- name: insert_plan_case
INSERT INTO plan_case (
  run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes, operations_per_sm,
  estimate_ns, delta, listed, precision)
VALUES (
  :run, :bench_case, :position, :limited_by, nullif(:peak_bytes_per_second, 0), :traffic_bytes,
  nullif(:operations_per_sm, 0), :estimate_ns, nullif(:delta, 0.0), :listed,
  nullif(:precision, 0.0));

-- name: insert_plan_alias
INSERT INTO plan_alias (run, bench_case, measured_by, listed)
VALUES (:run, :bench_case, :measured_by, :listed);
