-- Schema 1.2, the first that is released, with haul 0.2.0. (1.0 and 1.1 never were.)
--
-- The promise, from 0.2.0 on. A migration NNNN_*.sql leads to user_version NNNN = major * 1000 + minor and
-- sets it in its last line. Migrations are append-only: a released one is never edited, what changes is a
-- new file. All that a database lacks, and the views after them, are applied in one transaction with
-- their version. A minor version only adds: a table, a column that may be NULL, an index. An older haul
-- reads a newer minor version and does not write it; it refuses a newer major version.
--
-- Changed views are a new minor version too, even where the migration is nothing but the new
-- user_version: the views of a file are made anew only when it is migrated.
--
-- Identity. environment, scenario and bench_case are known by what they contain (`key`: XXH3-128 of
-- the canonical content, 32 hexadecimal digits), run by its UUID: the same content from another
-- database is the same row, so that merging twice changes nothing. Integer ids are local to a file.
--
-- Units. Integers in base units: bytes, ns, kHz, mW; *_at_ns is ns since 1970 (UTC). Times of one
-- process, its trials and the telemetry beside it come from one monotonic clock plus an offset
-- taken once when haul started, so they never run backwards against each other. Rates and
-- percentages are computed in views.
--
-- Size. Only trial and flow_trial are large (10^8 rows): clustered on the case they belong to,
-- written in that order, small integers instead of words. case_run and flow_run hold their
-- summaries, so that comparing runs never reads trials.
--
-- Checks. A column whose names may grow (kind, method, memory, op, operation, clock, limited_by) has no
-- CHECK of them, because a new name would mean rebuilding its table: the enumerations of the program
-- hold the names. Numbers are checked, and closed sets of names that the views rely on.
--
-- Merging copies every column of every table that it finds here; a new column or table needs nothing
-- there as long as a table's first key column refers to the row that it belongs to.

PRAGMA application_id = 1751217516; -- 0x6861756c, "haul"

-- The facts about a machine and its software under which a run was made. What people filter on is
-- a column; environment_fact has all of it, with the reason where there is no answer.
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32),
  simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)), -- a fake driver answered
  host_name TEXT NOT NULL,
  source TEXT NOT NULL,       -- "probe", or the file the machine was loaded from
  cuda_state TEXT NOT NULL,   -- "ok", or why there was no GPU to use
  driver_version TEXT,        -- "580.159.04"; NULL: no driver
  driver_branch TEXT,         -- "r580"
  kernel_module TEXT,         -- "open", "proprietary"
  cuda_driver_version TEXT,   -- "13.0"
  kernel TEXT,                -- release of the operating system's kernel
  os TEXT,
  boot_id TEXT,
  cpu_model TEXT,
  hypervisor TEXT,
  gpu_name TEXT,              -- every different name once, ", " between; NULL: no GPU
  gpu_count INTEGER NOT NULL CHECK (gpu_count >= 0),
  node_count INTEGER NOT NULL CHECK (node_count >= 0)
);
CREATE INDEX environment_by_driver ON environment (driver_version);

CREATE TABLE environment_fact (
  environment INTEGER NOT NULL REFERENCES environment (id),
  name TEXT NOT NULL,
  gpu INTEGER NOT NULL CHECK (gpu >= -1), -- -1: the whole machine
  state TEXT NOT NULL CHECK (state IN ('ok', 'unavailable', 'denied')),
  value TEXT NOT NULL,                    -- or why there is none
  PRIMARY KEY (environment, name, gpu)
) WITHOUT ROWID;

-- A place that memory is at: a GPU or a NUMA node. 0 or NULL = not known or not of that kind.
CREATE TABLE device (
  environment INTEGER NOT NULL REFERENCES environment (id),
  place TEXT NOT NULL CHECK (place IN ('gpu', 'numa')),
  number INTEGER NOT NULL, -- gpu: order of PCI address; numa: the operating system's number
  memory_bytes INTEGER NOT NULL,
  cpu_count INTEGER,                 -- numa
  name TEXT,                         -- gpu, from here on
  uuid TEXT,
  pci_address TEXT,
  numa_node INTEGER,
  cuda_ordinal INTEGER,
  compute_major INTEGER,
  compute_minor INTEGER,
  sm_count INTEGER,
  copy_engine_count INTEGER,
  l2_bytes INTEGER,
  sm_clock_max_khz INTEGER,
  memory_clock_khz INTEGER,
  memory_bus_bits INTEGER,
  pcie_generation_max INTEGER,
  pcie_width_max INTEGER,
  nvlink_count INTEGER,
  nvlink_bytes_per_second INTEGER,   -- one link, one direction
  c2c_bytes_per_second INTEGER,
  mig_enabled INTEGER CHECK (mig_enabled IN (0, 1)),
  PRIMARY KEY (environment, place, number)
) WITHOUT ROWID;

-- The way from one place to another of the same kind, in that direction.
CREATE TABLE link (
  environment INTEGER NOT NULL REFERENCES environment (id),
  place TEXT NOT NULL CHECK (place IN ('gpu', 'numa')),
  source INTEGER NOT NULL,
  target INTEGER NOT NULL,
  peer_access INTEGER CHECK (peer_access IN (0, 1)), -- gpu
  nvlink_count INTEGER,                              -- gpu; 0: over PCIe
  bytes_per_second INTEGER,                          -- gpu; theoretical, NULL: not known
  distance INTEGER,                                  -- numa; SLIT, 10 = the node itself
  PRIMARY KEY (environment, place, source, target),
  FOREIGN KEY (environment, place, source) REFERENCES device (environment, place, number),
  FOREIGN KEY (environment, place, target) REFERENCES device (environment, place, number)
) WITHOUT ROWID;

CREATE TABLE scenario (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  text TEXT NOT NULL,    -- the file as read
  resolved TEXT NOT NULL -- means the same alone: includes and --set applied
);

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE CHECK (length(uuid) = 32), -- UUIDv7: sortable by time
  environment INTEGER NOT NULL REFERENCES environment (id),
  scenario INTEGER NOT NULL REFERENCES scenario (id),
  scenario_path TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('measured', 'imported')),
  tag TEXT,
  only_glob TEXT,              -- --only
  command_line TEXT NOT NULL,
  haul_version TEXT NOT NULL,
  processes INTEGER NOT NULL CHECK (processes >= 1), -- wanted
  case_order TEXT NOT NULL CHECK (case_order IN ('file', 'shuffled')),
  seed TEXT NOT NULL,          -- text: unsigned 64 bits do not fit an INTEGER
  telemetry_ns INTEGER NOT NULL, -- interval; 0: off
  started_at_ns INTEGER NOT NULL,
  ended_at_ns INTEGER,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted', 'failed')),
  reason TEXT
);
CREATE INDEX run_by_start ON run (started_at_ns);
CREATE INDEX run_by_tag ON run (tag) WHERE tag IS NOT NULL;
CREATE INDEX run_by_environment ON run (environment);
CREATE INDEX run_by_scenario ON run (scenario);

-- One answer to one check; a resumed run asks again.
CREATE TABLE check_result (
  run INTEGER NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  gpu INTEGER NOT NULL CHECK (gpu >= -1), -- -1: the whole machine
  checked_at_ns INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('passed', 'failed', 'unavailable', 'denied')),
  on_fail TEXT NOT NULL CHECK (on_fail IN ('record', 'warn', 'skip', 'abort')),
  want TEXT NOT NULL,
  found TEXT NOT NULL,
  PRIMARY KEY (run, name, gpu, checked_at_ns)
) WITHOUT ROWID;

-- One pass over the plan by a worker process, or by several where one had to be replaced.
CREATE TABLE process (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  pid INTEGER NOT NULL,         -- of the last worker
  workers INTEGER NOT NULL CHECK (workers >= 1),
  started_at_ns INTEGER NOT NULL,
  ended_at_ns INTEGER,
  UNIQUE (run, ordinal)
);

-- A case under the name a scenario gave it. case_key says what is measured and is what is compared
-- between runs; two scenarios may give one case_key different names, which are two rows here.
CREATE TABLE bench_case (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32), -- of case_key and how it is named here
  case_key TEXT NOT NULL CHECK (length(case_key) = 32),
  definition TEXT NOT NULL, -- canonical JSON: what case_key was made of
  block TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,       -- "transfer", "chase", "stream", ...: what is in the tables below
  axes TEXT NOT NULL,       -- "from.memory=pinned size=64KiB"
  path TEXT NOT NULL,       -- "numa0:pinned-gpu0"
  payload_bytes INTEGER NOT NULL CHECK (payload_bytes >= 0), -- moved by one iteration
  operations INTEGER NOT NULL CHECK (operations >= 0), -- of one thread, one after another: loads, instructions
  host_cache TEXT NOT NULL CHECK (host_cache IN ('warm', 'flushed')),
  device_cache TEXT NOT NULL CHECK (device_cache IN ('warm', 'flushed'))
);
CREATE INDEX bench_case_by_case_key ON bench_case (case_key);

-- NULL: does not apply to the method, or left to it.
CREATE TABLE flow (
  bench_case INTEGER NOT NULL REFERENCES bench_case (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  role TEXT NOT NULL CHECK (role IN ('measured', 'load')),
  method TEXT NOT NULL,
  source_place TEXT NOT NULL CHECK (source_place IN ('gpu', 'numa')),
  source_index INTEGER NOT NULL,
  source_memory TEXT NOT NULL,
  target_place TEXT NOT NULL CHECK (target_place IN ('gpu', 'numa')),
  target_index INTEGER NOT NULL,
  target_memory TEXT NOT NULL,
  initiator TEXT NOT NULL CHECK (initiator IN ('source', 'target')),
  staged INTEGER NOT NULL CHECK (staged IN (0, 1)), -- GPU to GPU through the host on purpose
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
  gpu INTEGER,                 -- the GPU that telemetry is read of: the initiator, else the other
  threads INTEGER,             -- host threads
  kernel_variant TEXT,         -- sm
  kernel_block INTEGER,
  kernel_grid INTEGER,
  kernel_vector_bytes INTEGER,
  shape_width_bytes INTEGER,   -- strided copies
  shape_height INTEGER,
  shape_depth INTEGER,
  shape_pitch_bytes INTEGER,
  unified_mode TEXT,           -- um
  unified_touch_by TEXT,
  unified_advise TEXT,
  unified_stride_bytes INTEGER,
  PRIMARY KEY (bench_case, ordinal)
) WITHOUT ROWID;

-- Dependent loads by threads of a GPU.
CREATE TABLE chase (
  bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id),
  space TEXT NOT NULL,
  gpu INTEGER NOT NULL,          -- whose threads load
  memory_place TEXT NOT NULL CHECK (memory_place IN ('gpu', 'numa')),
  memory_index INTEGER NOT NULL,
  memory TEXT NOT NULL,
  footprint_bytes INTEGER NOT NULL,
  stride_bytes INTEGER NOT NULL, -- between elements
  hop_order TEXT NOT NULL,
  cache TEXT,                    -- global memory: the nearest cache that loads may hit
  threads INTEGER NOT NULL,      -- of a block
  blocks INTEGER NOT NULL,
  hops INTEGER NOT NULL CHECK (hops >= 0) -- loads of a thread in one iteration
);

-- A loop over arrays of numbers. NULL: does not apply there, or left to the engine.
CREATE TABLE stream (
  bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id),
  op TEXT NOT NULL,
  number_type TEXT NOT NULL,
  memory_place TEXT NOT NULL CHECK (memory_place IN ('gpu', 'numa')),
  memory_index INTEGER NOT NULL,
  memory TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,   -- one array
  passes INTEGER NOT NULL,       -- over the arrays in one iteration
  threads INTEGER,               -- of a node
  gpu INTEGER,                   -- whose SMs work, from here on
  block INTEGER,                 -- threads
  grid INTEGER,                  -- blocks; 'full': as many as cover the arrays once
  vector_bytes INTEGER,
  unroll INTEGER,
  clock TEXT
);

-- Chains of dependent instructions on a GPU.
CREATE TABLE arithmetic (
  bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id),
  op TEXT NOT NULL,
  number_type TEXT NOT NULL,
  measure TEXT NOT NULL,         -- "latency", "throughput"
  gpu INTEGER NOT NULL,
  ilp INTEGER NOT NULL,          -- independent chains of a thread
  block INTEGER NOT NULL,        -- threads
  grid INTEGER NOT NULL,         -- blocks
  instructions INTEGER NOT NULL  -- of a thread in one iteration
);

-- Calls of the driver, timed on the host: one iteration is one call.
CREATE TABLE overhead (
  bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id),
  operation TEXT NOT NULL,
  gpu INTEGER,          -- whose context; NULL: none
  memory_place TEXT CHECK (memory_place IN ('gpu', 'numa')), -- of allocate and free, from here on
  memory_index INTEGER,
  memory TEXT,
  size_bytes INTEGER
);

-- The plan of a run: every case in its order, with what depends on the machine.
CREATE TABLE plan_case (
  run INTEGER NOT NULL REFERENCES run (id),
  bench_case INTEGER NOT NULL REFERENCES bench_case (id),
  position INTEGER NOT NULL CHECK (position >= 0),
  limited_by TEXT NOT NULL,      -- the resource that peak_bytes_per_second belongs to
  peak_bytes_per_second INTEGER, -- theoretical; NULL: not known
  traffic_bytes INTEGER NOT NULL, -- of one iteration through that resource
  operations_per_sm INTEGER,     -- of one iteration on the SM that has most blocks; NULL: not counted
  estimate_ns INTEGER NOT NULL,
  delta REAL CHECK (delta > 0),  -- relative change that matters by the scenario; NULL: left to comparing
  PRIMARY KEY (run, bench_case)
) WITHOUT ROWID;
CREATE INDEX plan_case_by_bench_case ON plan_case (bench_case);

-- A case in a process: what came out, with its summary. A skipped case belongs to no process.
-- The summary is over the measured trials that are ok, per iteration; NULL without trials.
CREATE TABLE case_run (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  process INTEGER REFERENCES process (id),
  bench_case INTEGER NOT NULL REFERENCES bench_case (id),
  status TEXT NOT NULL
    CHECK (status IN ('ok', 'skipped', 'failed', 'crashed', 'hung', 'corrupt')),
  reason TEXT CHECK ((reason IS NULL) = (status = 'ok')),
  note TEXT,                   -- what the reader of the number must know
  n INTEGER NOT NULL CHECK (n >= 0), -- trials in the summary
  iterations INTEGER,          -- of the last trial
  clock TEXT,
  gated INTEGER CHECK (gated IN (0, 1)),
  verified INTEGER CHECK (verified IN (0, 1)),
  serialised INTEGER CHECK (serialised IN (0, 1)),
  stop TEXT CHECK (stop IN ('none', 'precision', 'trials', 'time')),
  median_ns REAL,
  median_low_ns REAL,          -- distribution-free 95 % interval of the median; NULL: n < 6
  median_high_ns REAL,
  p5_ns REAL,
  p95_ns REAL,
  min_ns REAL,
  max_ns REAL,
  mean_ns REAL,
  cv REAL,                     -- standard deviation / mean; NULL: n < 2
  median_cycles REAL,          -- of the SM; NULL: not counted
  started_at_ns INTEGER,       -- the first trial's start and the last one's end; NULL: no trials
  ended_at_ns INTEGER,
  allocate_ns INTEGER,         -- wall time of the case by what it went to
  measure_ns INTEGER,
  verify_ns INTEGER,
  total_ns INTEGER,
  CHECK ((process IS NULL) = (status = 'skipped')),
  CHECK ((median_ns IS NULL) = (n = 0))
);
CREATE UNIQUE INDEX case_run_by_run ON case_run (run, bench_case, ifnull(process, 0));
-- Everything that comparing reads of a case, in one place: it never touches the wide rows.
CREATE INDEX case_run_by_bench_case ON case_run (bench_case, run, process, status, median_ns);
CREATE INDEX case_run_by_process ON case_run (process);

-- A flow of a case of several flows, in a process; the summary as in case_run.
CREATE TABLE flow_run (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  flow INTEGER NOT NULL CHECK (flow >= 0), -- flow.ordinal
  n INTEGER NOT NULL CHECK (n > 0),
  median_ns REAL NOT NULL,
  p5_ns REAL NOT NULL,
  p95_ns REAL NOT NULL,
  PRIMARY KEY (case_run, flow)
) WITHOUT ROWID;

-- One timed execution of a case. (IN with three values would make a table of them for every row.)
CREATE TABLE trial (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  phase INTEGER NOT NULL CHECK (phase BETWEEN 0 AND 1),   -- warmup, measure
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2), -- ok, gate_timeout, corrupt
  iterations INTEGER NOT NULL CHECK (iterations > 0),  -- back-to-back repeats in elapsed_ns
  start_ns INTEGER NOT NULL,                           -- after case_run.started_at_ns
  elapsed_ns INTEGER NOT NULL CHECK (elapsed_ns >= 0), -- first flow's start to last flow's end
  cycles INTEGER,                                      -- of the SM; NULL: not counted
  PRIMARY KEY (case_run, ordinal)
) WITHOUT ROWID;

-- One flow in one trial; only for cases of several flows.
CREATE TABLE flow_trial (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0), -- trial.ordinal
  flow INTEGER NOT NULL CHECK (flow >= 0),       -- flow.ordinal
  start_ns INTEGER NOT NULL,                     -- after the trial's window began
  elapsed_ns INTEGER NOT NULL CHECK (elapsed_ns >= 0),
  PRIMARY KEY (case_run, ordinal, flow)
) WITHOUT ROWID;

-- A GPU at a moment. NULL: could not be read.
CREATE TABLE telemetry (
  run INTEGER NOT NULL REFERENCES run (id),
  gpu INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  sm_clock_khz INTEGER,
  memory_clock_khz INTEGER,
  power_mw INTEGER,
  temperature_c INTEGER,
  utilization_percent INTEGER,
  pcie_generation INTEGER,
  pcie_width INTEGER,
  throttle_reasons INTEGER, -- NVML's bits
  PRIMARY KEY (run, gpu, at_ns)
) WITHOUT ROWID;

-- Runs that others are compared with, under a name that people gave them. Local to a database.
CREATE TABLE baseline (
  name TEXT NOT NULL CHECK (name <> ''),
  run INTEGER NOT NULL REFERENCES run (id),
  set_at_ns INTEGER NOT NULL,
  PRIMARY KEY (name, run)
) WITHOUT ROWID;

PRAGMA user_version = 1002;
