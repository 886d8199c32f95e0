-- Years of weekly runs on a few machines, made of the only run of a template, which is attached as t. bench_history.c
-- fills the table size (machines, weeks, processes, trials). A machine gets a driver each quarter, one machine before the
-- other, boots once a month, and gets a new VBIOS once. From the ninth driver on, what the host starts is 1.5 % slower.
-- From three quarters of the weeks on, GPU 1 of the third machine is 4 % slower to the host.
CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
INSERT INTO n
WITH RECURSIVE c (i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < 99999) SELECT i FROM c;
CREATE TEMP TABLE driver (i INTEGER PRIMARY KEY, version TEXT);
INSERT INTO driver VALUES (0, '535.54.03'), (1, '535.86.10'), (2, '535.104.05'), (3, '535.129.03'), (4, '545.23.08'),
  (5, '550.54.15'), (6, '550.90.07'), (7, '560.35.03'), (8, '565.57.01'), (9, '570.86.15'), (10, '575.57.08'),
  (11, '580.65.06');

-- A machine, from one boot to the next.
CREATE TEMP TABLE boot AS
SELECT m.i * 1000 + b.i + 1 AS environment, m.i AS machine, b.i AS month, printf('node%02d', m.i + 1) AS host,
  min(11, (b.i + (m.i % 3)) / 3) AS driver
FROM size s JOIN n m ON m.i < s.machines JOIN n b ON b.i <= s.weeks * 7 / 30;
INSERT INTO environment (id, key, simulated, host_name, source, cuda_state, driver_version, driver_branch,
  kernel_module, cuda_driver_version, kernel, os, boot_id, cpu_model, hypervisor, gpu_name, gpu_count, node_count)
SELECT b.environment, printf('%032x', b.environment), 0, b.host, 'probe', e.cuda_state, d.version,
  'r' || substr(d.version, 1, 3), e.kernel_module, e.cuda_driver_version, printf('6.%d.0', 1 + b.month / 9), e.os,
  printf('%032x', b.environment), e.cpu_model, e.hypervisor, e.gpu_name, e.gpu_count, e.node_count
FROM boot b JOIN driver d ON d.i = b.driver JOIN t.environment e;
INSERT INTO environment_fact (environment, name, gpu, state, value)
SELECT b.environment, f.name, f.gpu, 'ok', CASE f.name
    WHEN 'driver_version' THEN d.version
    WHEN 'boot_id' THEN printf('%032x', b.environment)
    WHEN 'vbios' THEN CASE WHEN b.month > 14 + b.machine THEN '96.00.99.00.02' ELSE '96.00.68.00.01' END
    ELSE f.value END
FROM boot b JOIN driver d ON d.i = b.driver JOIN t.environment_fact f;
INSERT INTO device (environment, place, number, memory_bytes, cpu_count, name, uuid, pci_address, numa_node, cuda_ordinal,
  compute_major, compute_minor, sm_count, copy_engine_count, l2_bytes, sm_clock_max_khz, memory_clock_khz,
  memory_bus_bits, pcie_generation_max, pcie_width_max, nvlink_count, nvlink_bytes_per_second, c2c_bytes_per_second,
  mig_enabled)
SELECT b.environment, d.place, d.number, d.memory_bytes, d.cpu_count, d.name,
  CASE d.place WHEN 'gpu' THEN printf('GPU-%08x-0000-4000-8000-%012x', b.machine, d.number) END, d.pci_address,
  d.numa_node, d.cuda_ordinal, d.compute_major, d.compute_minor, d.sm_count, d.copy_engine_count, d.l2_bytes,
  d.sm_clock_max_khz, d.memory_clock_khz, d.memory_bus_bits, d.pcie_generation_max, d.pcie_width_max, d.nvlink_count,
  d.nvlink_bytes_per_second, d.c2c_bytes_per_second, d.mig_enabled
FROM boot b JOIN t.device d;
INSERT INTO link (environment, place, source, target, peer_access, nvlink_count, bytes_per_second, distance)
SELECT b.environment, l.place, l.source, l.target, l.peer_access, l.nvlink_count, l.bytes_per_second, l.distance
FROM boot b JOIN t.link l;

INSERT INTO scenario SELECT * FROM t.scenario;
INSERT INTO bench_case SELECT * FROM t.bench_case;
INSERT INTO flow SELECT * FROM t.flow;
INSERT INTO chase SELECT * FROM t.chase;
INSERT INTO stream SELECT * FROM t.stream;
INSERT INTO arithmetic SELECT * FROM t.arithmetic;
INSERT INTO overhead SELECT * FROM t.overhead;

-- In the order of time, an hour from machine to machine. first_ns: what times of the template are moved by.
CREATE TEMP TABLE made_run AS
SELECT w.i * s.machines + m.i + 1 AS run, m.i AS machine, w.i AS week, b.environment, b.driver,
  1700000000000000000 + (w.i * 7 * 24 + m.i) * 3600000000000 - r.started_at_ns AS later_ns
FROM size s JOIN n w ON w.i < s.weeks JOIN n m ON m.i < s.machines
JOIN boot b ON b.machine = m.i AND b.month = w.i * 7 / 30 JOIN t.run r;
INSERT INTO fleet (id, key, name) SELECT DISTINCT week + 1, printf('%032x', week + 1), printf('week%03d', week) FROM made_run;
INSERT INTO run (id, uuid, environment, scenario, scenario_path, origin, tag, command_line, haul_version, processes,
  case_order, seed, telemetry_ns, started_at_ns, ended_at_ns, status, fleet)
SELECT m.run, printf('%012x7%03x8%015x', (r.started_at_ns + m.later_ns) / 1000000, m.machine, m.run), m.environment,
  r.scenario, r.scenario_path, 'measured', CASE WHEN m.week % 4 = 0 THEN 'monthly' ELSE 'weekly' END, r.command_line, r.haul_version,
  s.processes, r.case_order, r.seed, r.telemetry_ns, r.started_at_ns + m.later_ns,
  r.started_at_ns + m.later_ns + s.processes * (r.ended_at_ns - r.started_at_ns), 'done', m.week + 1
FROM made_run m JOIN size s JOIN t.run r;
INSERT INTO baseline (name, run, set_at_ns) SELECT 'first', run, 0 FROM made_run WHERE week = 0;
INSERT INTO check_result (run, name, gpu, checked_at_ns, status, on_fail, on_unknown, want, found)
SELECT m.run, c.name, c.gpu, c.checked_at_ns + m.later_ns, c.status, c.on_fail, c.on_unknown, c.want, c.found
FROM made_run m JOIN t.check_result c;
INSERT INTO process (id, run, ordinal, pid, workers, started_at_ns, ended_at_ns)
SELECT (m.run - 1) * s.processes + i + 1, m.run, i, 1, 1, p.started_at_ns + m.later_ns + i * (p.ended_at_ns - p.started_at_ns),
  p.ended_at_ns + m.later_ns + i * (p.ended_at_ns - p.started_at_ns)
FROM made_run m JOIN size s JOIN n ON i < s.processes JOIN t.process p ORDER BY 1;
INSERT INTO plan_case (run, bench_case, position, limited_by, peak_bytes_per_second, traffic_bytes, operations_per_sm,
  estimate_ns, delta, listed)
SELECT m.run, p.bench_case, p.position, p.limited_by, p.peak_bytes_per_second, p.traffic_bytes, p.operations_per_sm,
  p.estimate_ns, p.delta, p.listed
FROM made_run m JOIN t.plan_case p ORDER BY 1, 2;
INSERT INTO plan_alias SELECT m.run, p.bench_case, p.measured_by, p.listed
FROM made_run m JOIN t.plan_alias p ORDER BY 1, 2;

-- The sum of four uniform numbers, of standard deviation about 0.3 %, made of the row's own number.
CREATE TEMP TABLE result AS
SELECT c.id, c.process IS NULL AS skipped, b.path GLOB 'gpu1-numa*' AS of_slow_gpu, b.path GLOB 'numa*' AS from_host
FROM t.case_run c JOIN t.bench_case b ON b.id = c.bench_case;
CREATE TEMP TABLE longer AS
SELECT p.id * 100000 + c.id AS id, p.id AS process, p.run, c.id AS template, c.skipped,
  m.later_ns + p.ordinal * (p.ended_at_ns - p.started_at_ns) AS later_ns,
  CASE WHEN c.of_slow_gpu AND m.machine = 2 AND m.week >= s.weeks * 3 / 4 THEN 1.04 ELSE 1 END
    * CASE WHEN c.from_host AND m.driver >= 8 THEN 1.015 ELSE 1 END
    * (1 + 0.0052 * (
        (p.id * 7919 + c.id * 104729) * 2654435761 % 4294967296 / 4294967296.0
      + (p.id * 6101 + c.id * 15485863) * 40503 % 65536 / 65536.0
      + (p.id * 3571 + c.id * 32452843) * 69069 % 1048573 / 1048573.0
      + (p.id * 2741 + c.id * 49979687) * 16807 % 2147483647 / 2147483647.0 - 2)) AS by
FROM size s CROSS JOIN process p JOIN made_run m ON m.run = p.run CROSS JOIN result c
WHERE NOT c.skipped OR p.ordinal = 0;
INSERT INTO case_run (id, run, process, bench_case, status, reason, n, iterations, clock, gated, verified, serialised,
  stop, median_ns, median_low_ns, median_high_ns, p5_ns, p95_ns, min_ns, max_ns, mean_ns, cv, median_cycles,
  started_at_ns, ended_at_ns, allocate_ns, measure_ns, verify_ns, total_ns)
SELECT l.id, l.run, CASE WHEN NOT l.skipped THEN l.process END, bench_case, status, reason, n, iterations, clock, gated,
  verified, serialised, stop, median_ns * by, 0.999 * median_ns * by, 1.001 * median_ns * by, p5_ns * by, p95_ns * by,
  min_ns * by, max_ns * by, mean_ns * by, cv, median_cycles * by, started_at_ns + later_ns, ended_at_ns + later_ns,
  allocate_ns, measure_ns, verify_ns, total_ns
FROM longer l JOIN t.case_run c ON c.id = l.template;
INSERT INTO trial (case_run, ordinal, phase, status, iterations, start_ns, elapsed_ns, cycles)
SELECT l.id, o.ordinal, o.phase, o.status, o.iterations, o.start_ns, CAST(o.elapsed_ns * by AS INTEGER), o.cycles
FROM longer l JOIN size s CROSS JOIN t.trial o ON o.case_run = l.template WHERE o.ordinal < s.trials;
INSERT INTO flow_run (case_run, flow, n, median_ns, p5_ns, p95_ns)
SELECT l.id, f.flow, f.n, f.median_ns * by, f.p5_ns * by, f.p95_ns * by
FROM longer l CROSS JOIN t.flow_run f ON f.case_run = l.template;
INSERT INTO flow_trial (case_run, ordinal, flow, start_ns, elapsed_ns, iterations)
SELECT l.id, o.ordinal, o.flow, o.start_ns, CAST(o.elapsed_ns * by AS INTEGER), o.iterations
FROM longer l JOIN size s CROSS JOIN t.flow_trial o ON o.case_run = l.template WHERE o.ordinal < s.trials;
-- What slowed one result in a hundred.
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount)
SELECT id, 9, 'throttled', 0, 'sw_power_cap', 30 FROM longer WHERE id * 2654435761 % 4294967296 < 42949672 AND NOT skipped;
INSERT INTO case_note (case_run, ordinal, kind, gpu, what, amount, amount2, amount3, amount4)
SELECT l.id, c.ordinal, c.kind, c.gpu, c.what, c.amount, c.amount2, c.amount3, c.amount4
FROM longer l CROSS JOIN t.case_note c ON c.case_run = l.template;
-- 60 samples of each GPU and run.
CREATE TEMP TABLE sample AS
SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY gpu ORDER BY at_ns) AS i, count(*) OVER (PARTITION BY gpu) AS n
  FROM t.telemetry)
WHERE i % (1 + n / 60) = 0;
INSERT INTO telemetry (run, gpu, at_ns, sm_clock_khz, memory_clock_khz, power_mw, temperature_c, utilization_percent,
  pcie_generation, pcie_width, throttle_reasons, other_processes, energy_mj)
SELECT m.run, o.gpu, o.at_ns + m.later_ns, o.sm_clock_khz, o.memory_clock_khz, o.power_mw, o.temperature_c,
  o.utilization_percent, o.pcie_generation, o.pcie_width, o.throttle_reasons, o.other_processes, o.energy_mj
FROM made_run m JOIN sample o ORDER BY 1, 2, 3;
