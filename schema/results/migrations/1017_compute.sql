-- Schema 1.17, with haul 0.2.0: kernels that compute, as loads of any case and as what a case of kind compute measures.
-- They are flows of method compute, whose size is that of their operands.

ALTER TABLE flow ADD COLUMN compute_op TEXT;            -- of method compute: "matmul", "fma", "triad"
ALTER TABLE flow ADD COLUMN compute_sm_percent INTEGER; -- share of the SMs that have a block of the kernel
ALTER TABLE flow ADD COLUMN compute_intensity INTEGER;  -- of triad: multiply-adds per element

PRAGMA user_version = 1017;
