-- What a run measured, in full.
--
-- One row per case, in the order of the scenario, including skipped ones. `haul run` shows these rows as matrices and
-- tables, and gives them as JSON.
-- Rates and times are medians over the processes of the run. A column is NULL if it does not apply to the case.
--
-- columns: v_run_case,v_case
-- column case: name of the case
-- column direction: `host_to_device`, `device_to_host`, `device_to_device`, `local` (within one GPU), `host_to_host`,
--   or `both`
-- column source, target: place of that end: `gpu0`, `numa1`
-- column source_memory, target_memory: kind of memory at that end. For memory of another process: how it is opened, and
--   the process that has it: `ipc:process1`
-- column under_load: (0 / 1) 1: a load runs beside the case
-- column size_bytes: (bytes) size of a flow. NULL: flows of the case differ in it, or the case has no size
-- column gbps_low, gbps_high: (GB/s) with one process: the 95 % interval of the median. With several: the slowest and
--   the fastest process
-- column cycles_per_hop: (cycles) chase: latency of a load
-- column ns_per_op, cycles_per_op: instruction: latency. Signal: a round there and back, or an addition
-- column trials: number of trials that count
-- column stop: why the trials ended: `precision` if it was reached in every process, else `trials` or `time`
--   (trials.max, max_time)
-- column same_as: name of the case that this setting repeats. It is measured once, and both rows have its result. NULL:
--   it repeats none
-- column same_block, same_axes: block and axes of that case
-- column load_gbps: (GB/s) rate of the loads, on average
-- column partial: (0 / 1) 1: the run has not measured all of its scenario, because of --only or --decide, or because it
--   ended early. Its cases without a row were then not measured
-- column run_status: of the run: `done`, `running`, `interrupted` or `failed`
-- column initiator: end that starts the flow: `source` (push) or `target` (pull)
-- column special: (0 / 1) 1: not a plain copy, so that tables of links leave it out. It is strided, scattered, staged
--   through the host on purpose, or by the bulk copy engine. Or it touches unified memory that need not have moved, or
--   loads near or far lines of a cache
-- column kernel_variant: kind of copy kernel. NULL: `auto`, or another method
-- column notes: note and slowed_by of all processes, a JSON array: [kind, gpu, what, amounts] for each. v_note_kind has the
--   kinds
-- column undisturbed_low_ns, undisturbed_high_ns: (ns) interval of undisturbed_ns, over all processes
-- column figure: measure.figure of the run: which rate its tables show. NULL: typical
-- column fastest_ns: (ns) the fastest trial of all processes
-- column reached_ns: (ns) the time that two measurements of the case reached: the second of their fastest trials. NULL:
--   the case was not measured again, or its rate settled
-- column p95_ns: (ns) 95 % of the trials were faster. Of several processes, the slowest
-- column flushed: caches that were flushed before each trial: `host`, `GPU`, or `host and GPU`. NULL: none
--
-- about: results
--
-- narrow: run_status,p95_ns,reached_ns,flushed,peak_tflops,fastest_ns,undisturbed_low_ns,undisturbed_high_ns,figure,disturbed_slower_percent,disturbed_percent,undisturbed_ns,settled,visits,undisturbed_gbps
-- narrow: notes,above_peak,kernel_variant,noise_ns,noise_percent,noise,case_key,special,initiator,load_gbps,same_axes,same_block
-- narrow: same_as,stop,slowed_by,note,high_ns,low_ns,under_load,flows,path
-- narrow: axes,number_type,measure,block,limited_by,peak_gbps,target_memory,source_memory,target,source
-- narrow: direction,operation,kind,ops_per_clock_sm
-- narrow: gbps_high,gbps_low,size_bytes,method,processes,trials,reason,percent_of_peak,status,median_ns,cycles_per_op,cycles_per_hop,tflops,ns_per_op,ns_per_hop
--
-- json: notes
--
-- empty: the run has no case
--
-- :run (run, default latest) the run to show
-- :block (text, default *) glob of block names
SELECT
  p.case_name AS "case",
  p.block AS block,
  c.path AS path,
  p.axes AS axes,
  c.kind AS kind,
  CASE WHEN c.kind <> 'signal' THEN c.method END AS method,
  c.operation AS operation,
  c.direction AS direction,
  c.source_place || c.source_index AS source,
  coalesce(c.source_share || ':process' || c.source_process, c.source_memory) AS source_memory,
  c.target_place || c.target_index AS target,
  coalesce(c.target_share || ':process' || c.target_process, c.target_memory) AS target_memory,
  c.flows AS flows,
  EXISTS (SELECT 1 FROM bench_case b JOIN flow f ON f.bench_case = b.id
          WHERE b.case_key = c.case_key AND b.name = c.case_name AND f.role = 'load')
    AS under_load,
  CASE WHEN c.kind = 'signal' OR (c.flows > 1 AND c.payload_bytes <> c.flows * c.size_bytes) THEN NULL
    ELSE c.size_bytes END AS size_bytes,
  c.gbps AS gbps,
  c.gbps_low AS gbps_low,
  c.gbps_high AS gbps_high,
  c.percent_of_peak AS percent_of_peak,
  c.peak_gbps AS peak_gbps,
  c.limited_by AS limited_by,
  c.ns_per_hop AS ns_per_hop,
  CASE c.kind WHEN 'chase' THEN c.cycles_per_op END AS cycles_per_hop,
  c.number_type AS number_type,
  c.measure AS measure,
  CASE WHEN c.ns_per_hop IS NULL AND c.tflops IS NULL THEN c.ns_per_op END AS ns_per_op,
  CASE WHEN c.ns_per_hop IS NULL AND c.tflops IS NULL THEN c.cycles_per_op END AS cycles_per_op,
  c.ops_per_clock_sm AS ops_per_clock_sm,
  c.median_ns AS median_ns,
  c.low_ns AS low_ns,
  c.high_ns AS high_ns,
  c.n AS trials,
  c.processes AS processes,
  c.status AS status,
  c.reason AS reason,
  c.note AS note,
  c.slowed_by AS slowed_by,
  -- CROSS JOIN: from the case to its results; the other way is over all of the run, once per case.
  (SELECT max(nullif(y.stop, 'none')) FROM bench_case b CROSS JOIN case_run y
   WHERE y.run = c.run AND y.bench_case = b.id AND b.case_key = c.case_key
     AND b.name = c.case_name AND y.status = 'ok')
    AS stop,
  p.same_as AS same_as,
  p.same_block AS same_block,
  p.same_axes AS same_axes,
  CASE WHEN c.kind IN ('transfer', 'compute') THEN
    (SELECT avg(f.size_bytes / x.median_ns) FROM case_run y
     JOIN flow f ON f.bench_case = y.bench_case AND f.role = 'load' AND f.method <> 'compute'
     JOIN flow_run x ON x.case_run = y.id AND x.flow = f.ordinal
     WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok')
  END AS load_gbps,
  (SELECT r.only_glob IS NOT NULL OR r.looks IS NOT NULL OR r.repeats IS NOT NULL OR r.status <> 'done'
   FROM run r WHERE r.id = :run) AS partial,
  c.initiator AS initiator,
  EXISTS (SELECT 1 FROM flow f
          WHERE f.bench_case = c.bench_case
            AND (f.staged OR f.shape_width_bytes IS NOT NULL OR f.pieces IS NOT NULL
                 OR f.kernel_variant = 'bulk'))
    OR EXISTS (SELECT 1 FROM chase h WHERE h.bench_case = c.bench_case AND h.access = 'bulk')
    OR EXISTS (SELECT 1 FROM stream s WHERE s.bench_case = c.bench_case AND s.clock = 'cycles')
    OR c.lines IS NOT NULL
    OR EXISTS (SELECT 1 FROM flow f JOIN case_run y ON y.bench_case = f.bench_case
               WHERE f.bench_case = c.bench_case AND f.role = 'measured' AND f.method = 'um' AND y.run = c.run
                 AND NOT y.verified)
    AS special,
  c.case_key AS case_key,
  c.noise AS noise,
  c.noise_percent AS noise_percent,
  c.noise_ns AS noise_ns,
  c.above_peak AS above_peak,
  (SELECT nullif(f.kernel_variant, 'auto') FROM flow f
   WHERE f.bench_case = c.bench_case AND f.role = 'measured' ORDER BY f.ordinal LIMIT 1)
    AS kernel_variant,
  (SELECT json_group_array(json_array(v.kind, v.gpu, v.what, v.amount, v.amount2, v.amount3, v.amount4))
   FROM case_run y JOIN v_note v ON v.case_run = y.id
   WHERE y.run = c.run AND y.bench_case = c.bench_case) AS notes,
  c.visits AS visits,
  c.settled AS settled,
  c.undisturbed_ns AS undisturbed_ns,
  c.undisturbed_gbps AS undisturbed_gbps,
  c.disturbed_percent AS disturbed_percent,
  c.disturbed_slower_percent AS disturbed_slower_percent,
  (SELECT min(y.undisturbed_low_ns) FROM case_run y
   WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok') AS undisturbed_low_ns,
  (SELECT max(y.undisturbed_high_ns) FROM case_run y
   WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok') AS undisturbed_high_ns,
  (SELECT f.value FROM run_fact f WHERE f.run = c.run AND f.name = 'figure') AS figure,
  (SELECT min(y.min_ns) FROM case_run y
   WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok') AS fastest_ns,
  CASE WHEN c.settled IN ('budget', 'noise') THEN
    (SELECT min(1.0 * t.elapsed_ns / t.iterations) AS ns FROM case_run y CROSS JOIN trial t ON t.case_run = y.id
     WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok' AND t.phase = 1 AND t.status = 0
     GROUP BY y.id, t.visit ORDER BY ns LIMIT 1 OFFSET 1)
  END AS reached_ns,
  (SELECT max(y.p95_ns) FROM case_run y
   WHERE y.run = c.run AND y.bench_case = c.bench_case AND y.status = 'ok') AS p95_ns,
  (SELECT r.status FROM run r WHERE r.id = :run) AS run_status,
  c.tflops AS tflops,
  c.peak_tflops AS peak_tflops,
  CASE WHEN c.kind IN ('transfer', 'stream') THEN
    (SELECT CASE WHEN b.host_cache = 'flushed' AND 'numa' IN (c.source_place, c.target_place) THEN
              CASE WHEN b.device_cache = 'flushed' THEN 'host and GPU' ELSE 'host' END
            WHEN b.device_cache = 'flushed' AND 'gpu' IN (c.source_place, c.target_place) THEN 'GPU' END
     FROM bench_case b WHERE b.id = c.bench_case)
  END AS flushed
FROM v_place p CROSS JOIN v_run_case c ON c.run = p.run AND c.bench_case = p.bench_case
WHERE p.run = :run AND p.block GLOB :block
ORDER BY p.listed, p.position;
