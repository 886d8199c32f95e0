-- From where to where a case goes; a chase and a call of the driver as one flow to the GPU,
-- a stream and arithmetic as one inside their place.
SELECT role, source_place, source_index, source_memory, target_place, target_index, target_memory
FROM (
  SELECT ordinal, role, source_place, source_index, source_memory, target_place, target_index,
    target_memory
  FROM flow WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', memory_place, memory_index, memory, 'gpu', gpu, ''
  FROM chase WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', coalesce(memory_place, 'gpu'), coalesce(memory_index, gpu, -1),
    coalesce(memory, ''), CASE WHEN gpu IS NULL THEN memory_place ELSE 'gpu' END,
    coalesce(gpu, memory_index, -1), ''
  FROM overhead WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', memory_place, memory_index, memory, memory_place, memory_index, memory
  FROM stream WHERE bench_case = :bench_case
  UNION ALL
  SELECT 0, 'measured', 'gpu', gpu, '', 'gpu', gpu, ''
  FROM arithmetic WHERE bench_case = :bench_case)
ORDER BY ordinal;
