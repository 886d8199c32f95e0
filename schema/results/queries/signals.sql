-- Signals: time of a flag or an event there and back and of an atomic addition, beside one dependent load of the same memory.
--
-- One row per case of a run of signals: a flag or an event there and back, or an atomic addition, beside one dependent
-- load of the same memory.
--
-- column other: who answers, or the place of the memory
-- column share: how memory of another process is opened. NULL: one process has both sides
-- column ns: (ns) one round there and back, or one addition. For atomics: the time of all additions divided by their
--   number
-- column low, high: (ns) 95 % interval of ns
-- column mops: (10^6/s) rate
-- column load_ns: (ns) one dependent load of the same memory by the same GPU
-- column of_load: ns divided by load_ns
-- column flags: whose memory has the flags between GPUs
-- column copy_gbps: (GB/s) rate of a copy by a kernel to the same memory
-- column of_link_percent: (%) share of copy_gbps that additions without answers take if each is a packet of 32 bytes,
--   the least on both kinds of link. NULL: fewer than 32 addresses, where additions of a warp share one
--
-- of: signals
--
-- narrow: low,high,remark,load_ns,blocks,threads,flags,copy_gbps
--
-- :run (run, default null) the run to show; null: the latest of signals
WITH
  -- A packet of 32 bytes: PCIe has 6 double words of framing and header with a 64-bit address, and 8 bytes of data (Intel
  -- AN 708, "Understanding PCI Express Throughput": 5 to 7 double words without ECRC). NVLink has one flit of header and
  -- one of data, 128 bits each (https://en.wikichip.org/wiki/nvidia/nvlink, "Packet").
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
