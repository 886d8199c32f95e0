-- Schema 1.34, with haul 0.2.0: a case holds what all kinds have, and its settings, so that no view asks which kind it is
-- of. Settings that come later are columns behind these: see case/settings in statements/case.sql.

ALTER TABLE bench_case ADD COLUMN method TEXT;           -- of its first measured flow, as the source and the target
ALTER TABLE bench_case ADD COLUMN gpu INTEGER;           -- whose clocks matter; NULL: none
ALTER TABLE bench_case ADD COLUMN source_place TEXT;     -- where the bytes are that it reads
ALTER TABLE bench_case ADD COLUMN source_index INTEGER;
ALTER TABLE bench_case ADD COLUMN source_memory TEXT;
ALTER TABLE bench_case ADD COLUMN target_place TEXT;     -- where they go to, or whose threads work
ALTER TABLE bench_case ADD COLUMN target_index INTEGER;
ALTER TABLE bench_case ADD COLUMN target_memory TEXT;
ALTER TABLE bench_case ADD COLUMN size_bytes INTEGER;
ALTER TABLE bench_case ADD COLUMN figure TEXT;           -- what it is compared by: "GB/s", "ns/hop"
ALTER TABLE bench_case ADD COLUMN figure_amount INTEGER; -- bytes, hops, operations of one iteration
ALTER TABLE bench_case ADD COLUMN operation TEXT;
ALTER TABLE bench_case ADD COLUMN stride_bytes INTEGER;
ALTER TABLE bench_case ADD COLUMN hops INTEGER;
ALTER TABLE bench_case ADD COLUMN space TEXT;
ALTER TABLE bench_case ADD COLUMN hop_order TEXT;
ALTER TABLE bench_case ADD COLUMN cache TEXT;
ALTER TABLE bench_case ADD COLUMN number_type TEXT;
ALTER TABLE bench_case ADD COLUMN measure TEXT;
ALTER TABLE bench_case ADD COLUMN ilp INTEGER;
ALTER TABLE bench_case ADD COLUMN passes INTEGER;
ALTER TABLE bench_case ADD COLUMN threads INTEGER;
ALTER TABLE bench_case ADD COLUMN block_threads INTEGER;
ALTER TABLE bench_case ADD COLUMN grid_blocks INTEGER;   -- or the word "full"
ALTER TABLE bench_case ADD COLUMN access TEXT;
ALTER TABLE bench_case ADD COLUMN alive INTEGER;
ALTER TABLE bench_case ADD COLUMN nodes INTEGER;
ALTER TABLE bench_case ADD COLUMN handles INTEGER;
ALTER TABLE bench_case ADD COLUMN pages TEXT;            -- of an overhead, as the next
ALTER TABLE bench_case ADD COLUMN touch_threads INTEGER;
ALTER TABLE bench_case ADD COLUMN lines TEXT;            -- of a chase; NULL: all

UPDATE bench_case SET (
  method, gpu, source_place, source_index, source_memory, target_place, target_index, target_memory, size_bytes, figure,
  figure_amount, operation, stride_bytes, hops, space, hop_order, cache, number_type, measure, ilp, passes, threads,
  block_threads, grid_blocks, access, alive, nodes, handles, pages, touch_threads, lines) = (
SELECT
  f.method,
  coalesce(f.gpu, nullif(h.gpu, -1), o.gpu, st.gpu, ar.gpu),
  coalesce(f.source_place, h.memory_place, o.memory_place, st.memory_place),
  coalesce(f.source_index, h.memory_index, o.memory_index, st.memory_index),
  coalesce(f.source_memory, h.memory, o.memory, st.memory),
  coalesce(f.target_place, CASE WHEN h.node IS NOT NULL THEN 'numa' WHEN coalesce(h.gpu, o.gpu, st.gpu, ar.gpu) IS NOT NULL THEN 'gpu' END),
  coalesce(f.target_index, h.node, h.gpu, o.gpu, st.gpu, ar.gpu),
  f.target_memory,
  coalesce(f.size_bytes, h.footprint_bytes, o.size_bytes, st.size_bytes),
  CASE WHEN json_extract(d.definition, '$.unresolved') IS NOT NULL THEN 'ns' WHEN h.hops > 0 THEN 'ns/hop' WHEN o.bench_case IS NOT NULL THEN 'ns/call'
    WHEN b.payload_bytes > 0 THEN 'GB/s' WHEN b.kind = 'compute' THEN 'GFLOP/s' ELSE 'ns' END,
  CASE WHEN json_extract(d.definition, '$.unresolved') IS NOT NULL THEN 1 WHEN h.hops > 0 THEN h.hops WHEN o.bench_case IS NULL AND b.payload_bytes > 0
    THEN b.payload_bytes WHEN b.kind IN ('compute', 'signal') THEN b.operations ELSE 1 END,
  coalesce(o.operation, st.op, ar.op, f.compute_op, f.signal_op),
  h.stride_bytes, h.hops, h.space, h.hop_order,
  coalesce(h.cache, st.cache),
  coalesce(st.number_type, ar.number_type),
  ar.measure, ar.ilp, st.passes,
  coalesce(f.threads, st.threads, o.threads),
  coalesce(f.kernel_block, h.threads, st.block, ar.block),
  coalesce(f.kernel_grid, h.blocks, st.grid, ar.grid),
  h.access, o.alive, o.nodes, o.handles,
  json_extract(d.definition, '$.overhead.pages'),
  json_extract(d.definition, '$.overhead.touch_threads'),
  json_extract(d.definition, '$.chase.lines')
FROM (SELECT bench_case.id AS id, bench_case.payload_bytes AS payload_bytes, bench_case.operations AS operations,
    bench_case.kind AS kind) b
LEFT JOIN bench_case d ON d.id = b.id AND json_valid(d.definition)
LEFT JOIN chase h ON h.bench_case = b.id
LEFT JOIN overhead o ON o.bench_case = b.id
LEFT JOIN stream st ON st.bench_case = b.id
LEFT JOIN arithmetic ar ON ar.bench_case = b.id
LEFT JOIN flow f ON f.bench_case = b.id
  AND f.ordinal = (SELECT min(g.ordinal) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured'));

PRAGMA user_version = 1034;
