-- Schema 1.28, with haul 0.2.0: kernels that compute in a green context.

ALTER TABLE flow ADD COLUMN compute_sm_share TEXT; -- how a kernel has its SMs: "green_context"; NULL: by its blocks

PRAGMA user_version = 1028;
