-- Signals: time of a flag or an event there and back and of an atomic addition, beside one dependent load of the same memory.
--
-- One row per case of the latest run of signals. other is the responder, or the place of the memory, and share how the memory of
-- another process is opened (NULL: one process has both sides). ns is the time of one round
-- there and back, or of one addition (atomics: the time of the window by all additions); low and high are its 95 %
-- interval. mops is the rate in 10^6 per second. load_ns is the time of one dependent load by the same GPU of the same
-- memory, and of_load how often that the signal takes. flags: whose memory has the flags between GPUs.
-- copy_gbps is the rate of a copy by a kernel to the same memory, and of_link_percent what additions without answers take of it
-- if each is a packet of 32 bytes. That is the least on both kinds of link. PCIe: 6 double words of framing and header with a
-- 64-bit address, and 8 bytes of data (Intel AN 708, "Understanding PCI Express Throughput": 5 to 7 double words without ECRC).
-- NVLink: one flit of header and one of data, 128 bits each (https://en.wikichip.org/wiki/nvidia/nvlink, "Packet"). NULL with fewer than 32 addresses, where additions of one warp share an address.
--
-- of: signals
--
-- narrow: low,high,remark,load_ns,blocks,threads,flags,copy_gbps
--
-- :run (run, default null) the run to show; null: the latest of signals
WITH
  result AS (
    SELECT c.*
    FROM v_run_case c
    WHERE c.status <> 'skipped'
      AND c.run = coalesce(:run, (SELECT r.run FROM v_run r WHERE r.scenario = 'signals'
                                  ORDER BY r.started_at_ns DESC, r.run DESC LIMIT 1)))
SELECT
  s.operation AS op,
  'gpu' || s.gpu AS gpu,
  s.source || CASE WHEN s.source_memory = 'device' OR f.source_process > 0 THEN '' ELSE ':' || s.source_memory END AS other,
  f.source_share AS share,
  CASE WHEN f.source_place = 'gpu' THEN f.signal_flags END AS flags,
  f.signal_addresses AS addresses,
  s.grid_blocks AS blocks,
  s.block_threads AS threads,
  s.ns_per_op AS ns,
  s.low_ns * s.ns_per_op / s.median_ns AS low,
  s.high_ns * s.ns_per_op / s.median_ns AS high,
  1e3 / s.ns_per_op AS mops,
  l.ns_per_hop AS load_ns,
  s.ns_per_op / l.ns_per_hop AS of_load,
  c.gbps AS copy_gbps,
  CASE WHEN f.signal_addresses >= 32 THEN 100 * (32 / s.ns_per_op) / c.gbps END AS of_link_percent,
  CASE WHEN s.status <> 'ok' THEN s.status || ': ' || s.reason END AS remark
FROM result s
JOIN flow f ON f.bench_case = s.bench_case
LEFT JOIN result l ON l.kind = 'chase' AND l.gpu = s.gpu AND l.source = s.source AND s.operation <> 'atomics'
LEFT JOIN result c ON c.kind = 'transfer' AND c.gpu = s.gpu AND c.source = 'gpu' || s.gpu AND c.target = s.source
  AND s.operation = 'atomics' AND c.status = 'ok'
WHERE s.kind = 'signal'
ORDER BY s.position;
