-- Schema 1.24, with haul 0.2.0: flows of kernels that compute and of signals move nothing: v_flow has no rate of them.

PRAGMA user_version = 1024;
