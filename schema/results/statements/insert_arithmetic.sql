INSERT INTO arithmetic (
  bench_case, op, number_type, measure, gpu, ilp, block, grid, instructions)
VALUES (
  :bench_case, :op, :number_type, :measure, :gpu, :ilp, :block, :grid, :instructions);
