-- Schema 1.22, with haul 0.2.0: flags and atomic additions. A case of kind signal is one flow of method signal, from the
-- responder, or the memory that is added to, to the GPU.

ALTER TABLE flow ADD COLUMN signal_op TEXT;           -- "flag", "stream", "atomic", "atomics"
ALTER TABLE flow ADD COLUMN signal_flags TEXT;        -- between GPUs, whose memory has a flag: the "receiver"'s or the "sender"'s
ALTER TABLE flow ADD COLUMN signal_addresses INTEGER; -- of atomics, that the threads share

PRAGMA user_version = 1022;
