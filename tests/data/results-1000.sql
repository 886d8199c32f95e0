-- A database of schema 1.0 with one run (tests/schema/results/test_views.c --record).
PRAGMA application_id = 1751217516;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO environment VALUES(1,'fe365e85966b247817e03de671d940cb',1,'testhost','probe','ok','580.159.04','r580',NULL,NULL,'6.1.0-test',NULL,NULL,'Test CPU',NULL,'NVIDIA H200',2,2);
CREATE TABLE environment_fact (
  environment INTEGER NOT NULL REFERENCES environment (id),
  name TEXT NOT NULL,
  gpu INTEGER NOT NULL CHECK (gpu >= -1), -- -1: the whole machine
  state TEXT NOT NULL CHECK (state IN ('ok', 'unavailable', 'denied')),
  value TEXT NOT NULL,                    -- or why there is none
  PRIMARY KEY (environment, name, gpu)
) WITHOUT ROWID;
INSERT INTO environment_fact VALUES(1,'cpu_model',-1,'ok','Test CPU');
INSERT INTO environment_fact VALUES(1,'driver_branch',-1,'ok','r580');
INSERT INTO environment_fact VALUES(1,'driver_version',-1,'ok','580.159.04');
INSERT INTO environment_fact VALUES(1,'ecc',0,'ok','on');
INSERT INTO environment_fact VALUES(1,'kernel',-1,'ok','6.1.0-test');
INSERT INTO environment_fact VALUES(1,'microcode',-1,'denied','not readable');
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
INSERT INTO device VALUES(1,'gpu',0,161061273600,NULL,'NVIDIA H200','GPU-00000000','0000:06:00.0',0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO device VALUES(1,'gpu',1,161061273600,NULL,'NVIDIA H200','GPU-00000001','0000:07:00.0',0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0);
INSERT INTO device VALUES(1,'numa',0,549755813888,32,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO device VALUES(1,'numa',1,549755813888,32,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO link VALUES(1,'gpu',0,1,1,18,478000000000,NULL);
INSERT INTO link VALUES(1,'gpu',1,0,1,18,478000000000,NULL);
INSERT INTO link VALUES(1,'numa',0,0,NULL,NULL,NULL,10);
INSERT INTO link VALUES(1,'numa',0,1,NULL,NULL,NULL,21);
INSERT INTO link VALUES(1,'numa',1,0,NULL,NULL,NULL,21);
INSERT INTO link VALUES(1,'numa',1,1,NULL,NULL,NULL,10);
CREATE TABLE scenario (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  text TEXT NOT NULL,    -- the file as read
  resolved TEXT NOT NULL -- means the same alone: includes and --set applied
);
INSERT INTO scenario VALUES(1,'e29afa32309e8d5bf8320deda6a265d2','test','made up',replace('name = "test"\n','\n',char(10)),replace('name = "test"\n','\n',char(10)));
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
INSERT INTO run VALUES(1,'01a1fb6c2e797cbfa581f4e7ba1288ff',1,1,'test.toml','measured','nightly',NULL,'haul run test.toml','0.1.0',1,'file','18446744073709551615',100000000,1795219533433257456,1795219533587708447,'done',NULL);
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
INSERT INTO check_result VALUES(1,'governor',-1,1795219533433792984,'failed','warn','performance','powersave');
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
INSERT INTO process VALUES(1,1,0,100,1,1795219533459690680,1795219533558580864);
CREATE TABLE bench_case (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32), -- of case_key and how it is named here
  case_key TEXT NOT NULL CHECK (length(case_key) = 32),
  definition TEXT NOT NULL, -- canonical JSON: what case_key was made of
  block TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,       -- "transfer": its flows follow; "chase": its loads do
  axes TEXT NOT NULL,       -- "from.memory=pinned size=64KiB"
  path TEXT NOT NULL,       -- "numa0:pinned-gpu0"
  payload_bytes INTEGER NOT NULL CHECK (payload_bytes >= 0), -- moved by one iteration
  host_cache TEXT NOT NULL CHECK (host_cache IN ('warm', 'flushed')),
  device_cache TEXT NOT NULL CHECK (device_cache IN ('warm', 'flushed'))
);
INSERT INTO bench_case VALUES(1,'f594f7d55803862a6a88dfa934b9ae05','00000000000000000000000000000000','{}','h2d','h2d/numa0:pinned-gpu1/64MiB','transfer','size=64MiB','numa0:pinned-gpu1',67108864,'warm','warm');
INSERT INTO bench_case VALUES(2,'695f5678836d1abc6ae28d3470e77dc9','11111111111111111111111111111111','{}','d2d','d2d/gpu0<>gpu1/1MiB','transfer','','gpu0<>gpu1',2097152,'warm','warm');
INSERT INTO bench_case VALUES(3,'90a82e37359b7b61c646df4a38c4fac1','22222222222222222222222222222222','{}','um','um/gpu0-gpu1/1MiB','transfer','','gpu0-gpu1',0,'warm','warm');
INSERT INTO bench_case VALUES(4,'ea59c85b551ec0df6bb016662c87f1cc','33333333333333333333333333333333','{}','host','host/numa0-numa1/4KiB','transfer','','numa0-numa1',4096,'warm','warm');
INSERT INTO bench_case VALUES(5,'196fae9b97b724bc0b62642d1d4a9886','44444444444444444444444444444444','{}','latency','latency/numa0-gpu0','chase','','numa0-gpu0',0,'warm','warm');
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
INSERT INTO flow VALUES(1,0,'measured','ce','numa',0,'pinned','gpu',1,'device','target',0,67108864,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO flow VALUES(2,0,'measured','ce','gpu',0,'device','gpu',1,'device','source',0,1048576,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO flow VALUES(2,1,'measured','ce','gpu',1,'device','gpu',0,'device','source',0,1048576,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO flow VALUES(4,0,'measured','cpu','numa',0,'pageable','numa',1,'pageable','source',0,4096,NULL,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE chase (
  bench_case INTEGER PRIMARY KEY REFERENCES bench_case (id),
  space TEXT NOT NULL,
  gpu INTEGER NOT NULL,          -- whose thread loads
  memory_place TEXT NOT NULL CHECK (memory_place IN ('gpu', 'numa')),
  memory_index INTEGER NOT NULL,
  memory TEXT NOT NULL,
  footprint_bytes INTEGER NOT NULL,
  stride_bytes INTEGER NOT NULL, -- between elements
  hop_order TEXT NOT NULL,
  hops INTEGER NOT NULL CHECK (hops >= 0) -- loads of one iteration
);
INSERT INTO chase VALUES(5,'host',0,'numa',0,'pinned',1048576,64,'random',1000);
CREATE TABLE plan_case (
  run INTEGER NOT NULL REFERENCES run (id),
  bench_case INTEGER NOT NULL REFERENCES bench_case (id),
  position INTEGER NOT NULL CHECK (position >= 0),
  limited_by TEXT NOT NULL,      -- the resource that peak_bytes_per_second belongs to
  peak_bytes_per_second INTEGER, -- theoretical; NULL: not known
  traffic_bytes INTEGER NOT NULL, -- of one iteration through that resource
  estimate_ns INTEGER NOT NULL,
  PRIMARY KEY (run, bench_case)
) WITHOUT ROWID;
INSERT INTO plan_case VALUES(1,1,0,'pcie',63015384615,67108864,50000000);
INSERT INTO plan_case VALUES(1,2,1,'unknown',NULL,2097152,50000000);
INSERT INTO plan_case VALUES(1,3,2,'unknown',NULL,0,50000000);
INSERT INTO plan_case VALUES(1,4,3,'unknown',NULL,4096,50000000);
INSERT INTO plan_case VALUES(1,5,4,'unknown',NULL,0,50000000);
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
  started_at_ns INTEGER,       -- the first trial's start and the last one's end; NULL: no trials
  ended_at_ns INTEGER,
  allocate_ns INTEGER,         -- wall time of the case by what it went to
  measure_ns INTEGER,
  verify_ns INTEGER,
  total_ns INTEGER,
  CHECK ((process IS NULL) = (status = 'skipped')),
  CHECK ((median_ns IS NULL) = (n = 0))
);
INSERT INTO case_run VALUES(1,1,NULL,3,'skipped','GPU 0 has no managed memory',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO case_run VALUES(2,1,1,1,'ok',NULL,NULL,47,4,'event',1,1,0,'precision',1202758.5,1201793.0,1203714.4999999999999,1200187.3749999999999,1204908.0249999999069,1200030.75,1204968.0,1202705.1063829786144,0.0012992888683772357925,1795219533470925146,1795219533720740540,0,0,0,600000000);
INSERT INTO case_run VALUES(3,1,1,2,'ok',NULL,NULL,47,4,'event',1,1,0,'precision',1202755.0,1201741.25,1203533.2499999999999,1200361.9750000000931,1204746.8500000000931,1200151.2499999999999,1204980.5,1202629.0744680850766,0.0012943774686875746289,1795219533500094001,1795219533749908384,0,0,0,600000000);
INSERT INTO case_run VALUES(4,1,1,4,'ok',NULL,NULL,47,4,'event',1,1,0,'precision',1202383.5,1201617.4999999999999,1203094.7499999999999,1200209.9250000000465,1204729.8249999999534,1200031.4999999999999,1204912.5,1202476.9946808509994,0.0012733597000925565758,1795219533521611465,1795219533771416530,0,0,0,600000000);
INSERT INTO case_run VALUES(5,1,1,5,'ok',NULL,NULL,47,4,'event',1,1,0,'precision',1202572.0,1201940.4999999999999,1203585.75,1200861.2749999999069,1204845.6499999999068,1200013.75,1204993.25,1202700.6968085106928,0.0011768887906455209081,1795219533543643405,1795219533793443811,0,0,0,600000000);
CREATE TABLE flow_run (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  flow INTEGER NOT NULL CHECK (flow >= 0), -- flow.ordinal
  n INTEGER NOT NULL CHECK (n > 0),
  median_ns REAL NOT NULL,
  p5_ns REAL NOT NULL,
  p95_ns REAL NOT NULL,
  PRIMARY KEY (case_run, flow)
) WITHOUT ROWID;
INSERT INTO flow_run VALUES(3,0,47,1202730.0,1200336.9750000000931,1204721.8500000000931);
INSERT INTO flow_run VALUES(3,1,47,1202480.0,1200086.9750000000931,1204471.8500000000931);
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
INSERT INTO trial VALUES(2,0,0,0,4,0,4814774,NULL);
INSERT INTO trial VALUES(2,1,0,0,4,5000000,4804153,NULL);
INSERT INTO trial VALUES(2,2,1,0,4,10000000,4801196,NULL);
INSERT INTO trial VALUES(2,3,1,1,4,15000000,4812870,NULL);
INSERT INTO trial VALUES(2,4,1,0,4,20000000,4811034,NULL);
INSERT INTO trial VALUES(2,5,1,0,4,25000000,4819795,NULL);
INSERT INTO trial VALUES(2,6,1,0,4,30000000,4807130,NULL);
INSERT INTO trial VALUES(2,7,1,0,4,35000000,4806902,NULL);
INSERT INTO trial VALUES(2,8,1,0,4,40000000,4818089,NULL);
INSERT INTO trial VALUES(2,9,1,0,4,45000000,4806746,NULL);
INSERT INTO trial VALUES(2,10,1,0,4,50000000,4800123,NULL);
INSERT INTO trial VALUES(2,11,1,0,4,55000000,4810802,NULL);
INSERT INTO trial VALUES(2,12,1,0,4,60000000,4807452,NULL);
INSERT INTO trial VALUES(2,13,1,0,4,65000000,4818400,NULL);
INSERT INTO trial VALUES(2,14,1,0,4,70000000,4807034,NULL);
INSERT INTO trial VALUES(2,15,1,0,4,75000000,4804812,NULL);
INSERT INTO trial VALUES(2,16,1,0,4,80000000,4804890,NULL);
INSERT INTO trial VALUES(2,17,1,0,4,85000000,4810495,NULL);
INSERT INTO trial VALUES(2,18,1,0,4,90000000,4813332,NULL);
INSERT INTO trial VALUES(2,19,1,0,4,95000000,4809365,NULL);
INSERT INTO trial VALUES(2,20,1,0,4,100000000,4807627,NULL);
INSERT INTO trial VALUES(2,21,1,0,4,105000000,4801357,NULL);
INSERT INTO trial VALUES(2,22,1,0,4,110000000,4804926,NULL);
INSERT INTO trial VALUES(2,23,1,0,4,115000000,4813410,NULL);
INSERT INTO trial VALUES(2,24,1,0,4,120000000,4812669,NULL);
INSERT INTO trial VALUES(2,25,1,0,4,125000000,4817328,NULL);
INSERT INTO trial VALUES(2,26,1,0,4,130000000,4816004,NULL);
INSERT INTO trial VALUES(2,27,1,0,4,135000000,4819872,NULL);
INSERT INTO trial VALUES(2,28,1,0,4,140000000,4819121,NULL);
INSERT INTO trial VALUES(2,29,1,0,4,145000000,4815968,NULL);
INSERT INTO trial VALUES(2,30,1,0,4,150000000,4800607,NULL);
INSERT INTO trial VALUES(2,31,1,0,4,155000000,4807538,NULL);
INSERT INTO trial VALUES(2,32,1,0,4,160000000,4819708,NULL);
INSERT INTO trial VALUES(2,33,1,0,4,165000000,4813925,NULL);
INSERT INTO trial VALUES(2,34,1,0,4,170000000,4812494,NULL);
INSERT INTO trial VALUES(2,35,1,0,4,175000000,4801082,NULL);
INSERT INTO trial VALUES(2,36,1,0,4,180000000,4803786,NULL);
INSERT INTO trial VALUES(2,37,1,0,4,185000000,4814858,NULL);
INSERT INTO trial VALUES(2,38,1,0,4,190000000,4800316,NULL);
INSERT INTO trial VALUES(2,39,1,0,4,195000000,4818589,NULL);
INSERT INTO trial VALUES(2,40,1,0,4,200000000,4819455,NULL);
INSERT INTO trial VALUES(2,41,1,0,4,205000000,4807172,NULL);
INSERT INTO trial VALUES(2,42,1,0,4,210000000,4818410,NULL);
INSERT INTO trial VALUES(2,43,1,0,4,215000000,4817080,NULL);
INSERT INTO trial VALUES(2,44,1,0,4,220000000,4814861,NULL);
INSERT INTO trial VALUES(2,45,1,0,4,225000000,4814934,NULL);
INSERT INTO trial VALUES(2,46,1,0,4,230000000,4803508,NULL);
INSERT INTO trial VALUES(2,47,1,0,4,235000000,4812901,NULL);
INSERT INTO trial VALUES(2,48,1,0,4,240000000,4806063,NULL);
INSERT INTO trial VALUES(2,49,1,0,4,245000000,4815394,NULL);
INSERT INTO trial VALUES(3,0,0,0,4,0,4808358,NULL);
INSERT INTO trial VALUES(3,1,0,0,4,5000000,4806198,NULL);
INSERT INTO trial VALUES(3,2,1,0,4,10000000,4813231,NULL);
INSERT INTO trial VALUES(3,3,1,1,4,15000000,4807968,NULL);
INSERT INTO trial VALUES(3,4,1,0,4,20000000,4804304,NULL);
INSERT INTO trial VALUES(3,5,1,0,4,25000000,4801646,NULL);
INSERT INTO trial VALUES(3,6,1,0,4,30000000,4811020,NULL);
INSERT INTO trial VALUES(3,7,1,0,4,35000000,4804232,NULL);
INSERT INTO trial VALUES(3,8,1,0,4,40000000,4801417,NULL);
INSERT INTO trial VALUES(3,9,1,0,4,45000000,4818819,NULL);
INSERT INTO trial VALUES(3,10,1,0,4,50000000,4819033,NULL);
INSERT INTO trial VALUES(3,11,1,0,4,55000000,4816026,NULL);
INSERT INTO trial VALUES(3,12,1,0,4,60000000,4802905,NULL);
INSERT INTO trial VALUES(3,13,1,0,4,65000000,4812502,NULL);
INSERT INTO trial VALUES(3,14,1,0,4,70000000,4818881,NULL);
INSERT INTO trial VALUES(3,15,1,0,4,75000000,4811799,NULL);
INSERT INTO trial VALUES(3,16,1,0,4,80000000,4809560,NULL);
INSERT INTO trial VALUES(3,17,1,0,4,85000000,4816464,NULL);
INSERT INTO trial VALUES(3,18,1,0,4,90000000,4816496,NULL);
INSERT INTO trial VALUES(3,19,1,0,4,95000000,4819619,NULL);
INSERT INTO trial VALUES(3,20,1,0,4,100000000,4812504,NULL);
INSERT INTO trial VALUES(3,21,1,0,4,105000000,4808911,NULL);
INSERT INTO trial VALUES(3,22,1,0,4,110000000,4818502,NULL);
INSERT INTO trial VALUES(3,23,1,0,4,115000000,4806965,NULL);
INSERT INTO trial VALUES(3,24,1,0,4,120000000,4805171,NULL);
INSERT INTO trial VALUES(3,25,1,0,4,125000000,4803774,NULL);
INSERT INTO trial VALUES(3,26,1,0,4,130000000,4813847,NULL);
INSERT INTO trial VALUES(3,27,1,0,4,135000000,4817469,NULL);
INSERT INTO trial VALUES(3,28,1,0,4,140000000,4809872,NULL);
INSERT INTO trial VALUES(3,29,1,0,4,145000000,4804364,NULL);
INSERT INTO trial VALUES(3,30,1,0,4,150000000,4813939,NULL);
INSERT INTO trial VALUES(3,31,1,0,4,155000000,4803048,NULL);
INSERT INTO trial VALUES(3,32,1,0,4,160000000,4816003,NULL);
INSERT INTO trial VALUES(3,33,1,0,4,165000000,4809941,NULL);
INSERT INTO trial VALUES(3,34,1,0,4,170000000,4802372,NULL);
INSERT INTO trial VALUES(3,35,1,0,4,175000000,4800605,NULL);
INSERT INTO trial VALUES(3,36,1,0,4,180000000,4817368,NULL);
INSERT INTO trial VALUES(3,37,1,0,4,185000000,4814133,NULL);
INSERT INTO trial VALUES(3,38,1,0,4,190000000,4814746,NULL);
INSERT INTO trial VALUES(3,39,1,0,4,195000000,4819922,NULL);
INSERT INTO trial VALUES(3,40,1,0,4,200000000,4806183,NULL);
INSERT INTO trial VALUES(3,41,1,0,4,205000000,4818390,NULL);
INSERT INTO trial VALUES(3,42,1,0,4,210000000,4809708,NULL);
INSERT INTO trial VALUES(3,43,1,0,4,215000000,4803667,NULL);
INSERT INTO trial VALUES(3,44,1,0,4,220000000,4815249,NULL);
INSERT INTO trial VALUES(3,45,1,0,4,225000000,4801520,NULL);
INSERT INTO trial VALUES(3,46,1,0,4,230000000,4809719,NULL);
INSERT INTO trial VALUES(3,47,1,0,4,235000000,4802672,NULL);
INSERT INTO trial VALUES(3,48,1,0,4,240000000,4801365,NULL);
INSERT INTO trial VALUES(3,49,1,0,4,245000000,4814383,NULL);
INSERT INTO trial VALUES(4,0,0,0,4,0,4808230,NULL);
INSERT INTO trial VALUES(4,1,0,0,4,5000000,4806641,NULL);
INSERT INTO trial VALUES(4,2,1,0,4,10000000,4813654,NULL);
INSERT INTO trial VALUES(4,3,1,1,4,15000000,4810867,NULL);
INSERT INTO trial VALUES(4,4,1,0,4,20000000,4814492,NULL);
INSERT INTO trial VALUES(4,5,1,0,4,25000000,4801699,NULL);
INSERT INTO trial VALUES(4,6,1,0,4,30000000,4802448,NULL);
INSERT INTO trial VALUES(4,7,1,0,4,35000000,4815244,NULL);
INSERT INTO trial VALUES(4,8,1,0,4,40000000,4811721,NULL);
INSERT INTO trial VALUES(4,9,1,0,4,45000000,4806613,NULL);
INSERT INTO trial VALUES(4,10,1,0,4,50000000,4800502,NULL);
INSERT INTO trial VALUES(4,11,1,0,4,55000000,4806473,NULL);
INSERT INTO trial VALUES(4,12,1,0,4,60000000,4817458,NULL);
INSERT INTO trial VALUES(4,13,1,0,4,65000000,4800705,NULL);
INSERT INTO trial VALUES(4,14,1,0,4,70000000,4818928,NULL);
INSERT INTO trial VALUES(4,15,1,0,4,75000000,4809420,NULL);
INSERT INTO trial VALUES(4,16,1,0,4,80000000,4818899,NULL);
INSERT INTO trial VALUES(4,17,1,0,4,85000000,4808402,NULL);
INSERT INTO trial VALUES(4,18,1,0,4,90000000,4806470,NULL);
INSERT INTO trial VALUES(4,19,1,0,4,95000000,4800126,NULL);
INSERT INTO trial VALUES(4,20,1,0,4,100000000,4802257,NULL);
INSERT INTO trial VALUES(4,21,1,0,4,105000000,4804019,NULL);
INSERT INTO trial VALUES(4,22,1,0,4,110000000,4802005,NULL);
INSERT INTO trial VALUES(4,23,1,0,4,115000000,4810426,NULL);
INSERT INTO trial VALUES(4,24,1,0,4,120000000,4806526,NULL);
INSERT INTO trial VALUES(4,25,1,0,4,125000000,4816667,NULL);
INSERT INTO trial VALUES(4,26,1,0,4,130000000,4809534,NULL);
INSERT INTO trial VALUES(4,27,1,0,4,135000000,4805366,NULL);
INSERT INTO trial VALUES(4,28,1,0,4,140000000,4815022,NULL);
INSERT INTO trial VALUES(4,29,1,0,4,145000000,4801154,NULL);
INSERT INTO trial VALUES(4,30,1,0,4,150000000,4816956,NULL);
INSERT INTO trial VALUES(4,31,1,0,4,155000000,4810420,NULL);
INSERT INTO trial VALUES(4,32,1,0,4,160000000,4812243,NULL);
INSERT INTO trial VALUES(4,33,1,0,4,165000000,4818326,NULL);
INSERT INTO trial VALUES(4,34,1,0,4,170000000,4805776,NULL);
INSERT INTO trial VALUES(4,35,1,0,4,175000000,4819650,NULL);
INSERT INTO trial VALUES(4,36,1,0,4,180000000,4811830,NULL);
INSERT INTO trial VALUES(4,37,1,0,4,185000000,4812683,NULL);
INSERT INTO trial VALUES(4,38,1,0,4,190000000,4803606,NULL);
INSERT INTO trial VALUES(4,39,1,0,4,195000000,4806238,NULL);
INSERT INTO trial VALUES(4,40,1,0,4,200000000,4819638,NULL);
INSERT INTO trial VALUES(4,41,1,0,4,205000000,4804475,NULL);
INSERT INTO trial VALUES(4,42,1,0,4,210000000,4812305,NULL);
INSERT INTO trial VALUES(4,43,1,0,4,215000000,4816841,NULL);
INSERT INTO trial VALUES(4,44,1,0,4,220000000,4812379,NULL);
INSERT INTO trial VALUES(4,45,1,0,4,225000000,4818339,NULL);
INSERT INTO trial VALUES(4,46,1,0,4,230000000,4818494,NULL);
INSERT INTO trial VALUES(4,47,1,0,4,235000000,4805862,NULL);
INSERT INTO trial VALUES(4,48,1,0,4,240000000,4808319,NULL);
INSERT INTO trial VALUES(4,49,1,0,4,245000000,4805065,NULL);
INSERT INTO trial VALUES(5,0,0,0,4,0,4801814,NULL);
INSERT INTO trial VALUES(5,1,0,0,4,5000000,4805038,NULL);
INSERT INTO trial VALUES(5,2,1,0,4,10000000,4805690,NULL);
INSERT INTO trial VALUES(5,3,1,1,4,15000000,4805964,NULL);
INSERT INTO trial VALUES(5,4,1,0,4,20000000,4807762,NULL);
INSERT INTO trial VALUES(5,5,1,0,4,25000000,4803549,NULL);
INSERT INTO trial VALUES(5,6,1,0,4,30000000,4809986,NULL);
INSERT INTO trial VALUES(5,7,1,0,4,35000000,4808926,NULL);
INSERT INTO trial VALUES(5,8,1,0,4,40000000,4818698,NULL);
INSERT INTO trial VALUES(5,9,1,0,4,45000000,4818685,NULL);
INSERT INTO trial VALUES(5,10,1,0,4,50000000,4819412,NULL);
INSERT INTO trial VALUES(5,11,1,0,4,55000000,4808048,NULL);
INSERT INTO trial VALUES(5,12,1,0,4,60000000,4812911,NULL);
INSERT INTO trial VALUES(5,13,1,0,4,65000000,4818455,NULL);
INSERT INTO trial VALUES(5,14,1,0,4,70000000,4807127,NULL);
INSERT INTO trial VALUES(5,15,1,0,4,75000000,4800055,NULL);
INSERT INTO trial VALUES(5,16,1,0,4,80000000,4819921,NULL);
INSERT INTO trial VALUES(5,17,1,0,4,85000000,4814371,NULL);
INSERT INTO trial VALUES(5,18,1,0,4,90000000,4813281,NULL);
INSERT INTO trial VALUES(5,19,1,0,4,95000000,4810379,NULL);
INSERT INTO trial VALUES(5,20,1,0,4,100000000,4803485,NULL);
INSERT INTO trial VALUES(5,21,1,0,4,105000000,4815220,NULL);
INSERT INTO trial VALUES(5,22,1,0,4,110000000,4815581,NULL);
INSERT INTO trial VALUES(5,23,1,0,4,115000000,4803980,NULL);
INSERT INTO trial VALUES(5,24,1,0,4,120000000,4815380,NULL);
INSERT INTO trial VALUES(5,25,1,0,4,125000000,4806761,NULL);
INSERT INTO trial VALUES(5,26,1,0,4,130000000,4811026,NULL);
INSERT INTO trial VALUES(5,27,1,0,4,135000000,4819314,NULL);
INSERT INTO trial VALUES(5,28,1,0,4,140000000,4809421,NULL);
INSERT INTO trial VALUES(5,29,1,0,4,145000000,4805902,NULL);
INSERT INTO trial VALUES(5,30,1,0,4,150000000,4810288,NULL);
INSERT INTO trial VALUES(5,31,1,0,4,155000000,4805930,NULL);
INSERT INTO trial VALUES(5,32,1,0,4,160000000,4808538,NULL);
INSERT INTO trial VALUES(5,33,1,0,4,165000000,4814343,NULL);
INSERT INTO trial VALUES(5,34,1,0,4,170000000,4815655,NULL);
INSERT INTO trial VALUES(5,35,1,0,4,175000000,4819172,NULL);
INSERT INTO trial VALUES(5,36,1,0,4,180000000,4809061,NULL);
INSERT INTO trial VALUES(5,37,1,0,4,185000000,4811958,NULL);
INSERT INTO trial VALUES(5,38,1,0,4,190000000,4814388,NULL);
INSERT INTO trial VALUES(5,39,1,0,4,195000000,4807571,NULL);
INSERT INTO trial VALUES(5,40,1,0,4,200000000,4806366,NULL);
INSERT INTO trial VALUES(5,41,1,0,4,205000000,4815693,NULL);
INSERT INTO trial VALUES(5,42,1,0,4,210000000,4803604,NULL);
INSERT INTO trial VALUES(5,43,1,0,4,215000000,4803428,NULL);
INSERT INTO trial VALUES(5,44,1,0,4,220000000,4812767,NULL);
INSERT INTO trial VALUES(5,45,1,0,4,225000000,4804925,NULL);
INSERT INTO trial VALUES(5,46,1,0,4,230000000,4804706,NULL);
INSERT INTO trial VALUES(5,47,1,0,4,235000000,4815633,NULL);
INSERT INTO trial VALUES(5,48,1,0,4,240000000,4819973,NULL);
INSERT INTO trial VALUES(5,49,1,0,4,245000000,4800406,NULL);
CREATE TABLE flow_trial (
  case_run INTEGER NOT NULL REFERENCES case_run (id),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0), -- trial.ordinal
  flow INTEGER NOT NULL CHECK (flow >= 0),       -- flow.ordinal
  start_ns INTEGER NOT NULL,                     -- after the trial's window began
  elapsed_ns INTEGER NOT NULL CHECK (elapsed_ns >= 0),
  PRIMARY KEY (case_run, ordinal, flow)
) WITHOUT ROWID;
INSERT INTO flow_trial VALUES(3,0,0,0,4808258);
INSERT INTO flow_trial VALUES(3,0,1,100,4807258);
INSERT INTO flow_trial VALUES(3,1,0,0,4806098);
INSERT INTO flow_trial VALUES(3,1,1,100,4805098);
INSERT INTO flow_trial VALUES(3,2,0,0,4813131);
INSERT INTO flow_trial VALUES(3,2,1,100,4812131);
INSERT INTO flow_trial VALUES(3,3,0,0,4807868);
INSERT INTO flow_trial VALUES(3,3,1,100,4806868);
INSERT INTO flow_trial VALUES(3,4,0,0,4804204);
INSERT INTO flow_trial VALUES(3,4,1,100,4803204);
INSERT INTO flow_trial VALUES(3,5,0,0,4801546);
INSERT INTO flow_trial VALUES(3,5,1,100,4800546);
INSERT INTO flow_trial VALUES(3,6,0,0,4810920);
INSERT INTO flow_trial VALUES(3,6,1,100,4809920);
INSERT INTO flow_trial VALUES(3,7,0,0,4804132);
INSERT INTO flow_trial VALUES(3,7,1,100,4803132);
INSERT INTO flow_trial VALUES(3,8,0,0,4801317);
INSERT INTO flow_trial VALUES(3,8,1,100,4800317);
INSERT INTO flow_trial VALUES(3,9,0,0,4818719);
INSERT INTO flow_trial VALUES(3,9,1,100,4817719);
INSERT INTO flow_trial VALUES(3,10,0,0,4818933);
INSERT INTO flow_trial VALUES(3,10,1,100,4817933);
INSERT INTO flow_trial VALUES(3,11,0,0,4815926);
INSERT INTO flow_trial VALUES(3,11,1,100,4814926);
INSERT INTO flow_trial VALUES(3,12,0,0,4802805);
INSERT INTO flow_trial VALUES(3,12,1,100,4801805);
INSERT INTO flow_trial VALUES(3,13,0,0,4812402);
INSERT INTO flow_trial VALUES(3,13,1,100,4811402);
INSERT INTO flow_trial VALUES(3,14,0,0,4818781);
INSERT INTO flow_trial VALUES(3,14,1,100,4817781);
INSERT INTO flow_trial VALUES(3,15,0,0,4811699);
INSERT INTO flow_trial VALUES(3,15,1,100,4810699);
INSERT INTO flow_trial VALUES(3,16,0,0,4809460);
INSERT INTO flow_trial VALUES(3,16,1,100,4808460);
INSERT INTO flow_trial VALUES(3,17,0,0,4816364);
INSERT INTO flow_trial VALUES(3,17,1,100,4815364);
INSERT INTO flow_trial VALUES(3,18,0,0,4816396);
INSERT INTO flow_trial VALUES(3,18,1,100,4815396);
INSERT INTO flow_trial VALUES(3,19,0,0,4819519);
INSERT INTO flow_trial VALUES(3,19,1,100,4818519);
INSERT INTO flow_trial VALUES(3,20,0,0,4812404);
INSERT INTO flow_trial VALUES(3,20,1,100,4811404);
INSERT INTO flow_trial VALUES(3,21,0,0,4808811);
INSERT INTO flow_trial VALUES(3,21,1,100,4807811);
INSERT INTO flow_trial VALUES(3,22,0,0,4818402);
INSERT INTO flow_trial VALUES(3,22,1,100,4817402);
INSERT INTO flow_trial VALUES(3,23,0,0,4806865);
INSERT INTO flow_trial VALUES(3,23,1,100,4805865);
INSERT INTO flow_trial VALUES(3,24,0,0,4805071);
INSERT INTO flow_trial VALUES(3,24,1,100,4804071);
INSERT INTO flow_trial VALUES(3,25,0,0,4803674);
INSERT INTO flow_trial VALUES(3,25,1,100,4802674);
INSERT INTO flow_trial VALUES(3,26,0,0,4813747);
INSERT INTO flow_trial VALUES(3,26,1,100,4812747);
INSERT INTO flow_trial VALUES(3,27,0,0,4817369);
INSERT INTO flow_trial VALUES(3,27,1,100,4816369);
INSERT INTO flow_trial VALUES(3,28,0,0,4809772);
INSERT INTO flow_trial VALUES(3,28,1,100,4808772);
INSERT INTO flow_trial VALUES(3,29,0,0,4804264);
INSERT INTO flow_trial VALUES(3,29,1,100,4803264);
INSERT INTO flow_trial VALUES(3,30,0,0,4813839);
INSERT INTO flow_trial VALUES(3,30,1,100,4812839);
INSERT INTO flow_trial VALUES(3,31,0,0,4802948);
INSERT INTO flow_trial VALUES(3,31,1,100,4801948);
INSERT INTO flow_trial VALUES(3,32,0,0,4815903);
INSERT INTO flow_trial VALUES(3,32,1,100,4814903);
INSERT INTO flow_trial VALUES(3,33,0,0,4809841);
INSERT INTO flow_trial VALUES(3,33,1,100,4808841);
INSERT INTO flow_trial VALUES(3,34,0,0,4802272);
INSERT INTO flow_trial VALUES(3,34,1,100,4801272);
INSERT INTO flow_trial VALUES(3,35,0,0,4800505);
INSERT INTO flow_trial VALUES(3,35,1,100,4799505);
INSERT INTO flow_trial VALUES(3,36,0,0,4817268);
INSERT INTO flow_trial VALUES(3,36,1,100,4816268);
INSERT INTO flow_trial VALUES(3,37,0,0,4814033);
INSERT INTO flow_trial VALUES(3,37,1,100,4813033);
INSERT INTO flow_trial VALUES(3,38,0,0,4814646);
INSERT INTO flow_trial VALUES(3,38,1,100,4813646);
INSERT INTO flow_trial VALUES(3,39,0,0,4819822);
INSERT INTO flow_trial VALUES(3,39,1,100,4818822);
INSERT INTO flow_trial VALUES(3,40,0,0,4806083);
INSERT INTO flow_trial VALUES(3,40,1,100,4805083);
INSERT INTO flow_trial VALUES(3,41,0,0,4818290);
INSERT INTO flow_trial VALUES(3,41,1,100,4817290);
INSERT INTO flow_trial VALUES(3,42,0,0,4809608);
INSERT INTO flow_trial VALUES(3,42,1,100,4808608);
INSERT INTO flow_trial VALUES(3,43,0,0,4803567);
INSERT INTO flow_trial VALUES(3,43,1,100,4802567);
INSERT INTO flow_trial VALUES(3,44,0,0,4815149);
INSERT INTO flow_trial VALUES(3,44,1,100,4814149);
INSERT INTO flow_trial VALUES(3,45,0,0,4801420);
INSERT INTO flow_trial VALUES(3,45,1,100,4800420);
INSERT INTO flow_trial VALUES(3,46,0,0,4809619);
INSERT INTO flow_trial VALUES(3,46,1,100,4808619);
INSERT INTO flow_trial VALUES(3,47,0,0,4802572);
INSERT INTO flow_trial VALUES(3,47,1,100,4801572);
INSERT INTO flow_trial VALUES(3,48,0,0,4801265);
INSERT INTO flow_trial VALUES(3,48,1,100,4800265);
INSERT INTO flow_trial VALUES(3,49,0,0,4814283);
INSERT INTO flow_trial VALUES(3,49,1,100,4813283);
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
INSERT INTO telemetry VALUES(1,1,1795219533570925146,1980000,NULL,350000,45,100,5,16,0);
INSERT INTO telemetry VALUES(1,1,1795219533600094001,1980000,NULL,350000,45,100,5,16,0);
INSERT INTO telemetry VALUES(1,1,1795219533621611465,1980000,NULL,350000,45,100,5,16,0);
INSERT INTO telemetry VALUES(1,1,1795219533643643405,1980000,NULL,350000,45,100,5,16,0);
CREATE INDEX environment_by_driver ON environment (driver_version);
CREATE INDEX run_by_start ON run (started_at_ns);
CREATE INDEX run_by_tag ON run (tag) WHERE tag IS NOT NULL;
CREATE INDEX run_by_environment ON run (environment);
CREATE INDEX run_by_scenario ON run (scenario);
CREATE INDEX bench_case_by_case_key ON bench_case (case_key);
CREATE INDEX plan_case_by_bench_case ON plan_case (bench_case);
CREATE UNIQUE INDEX case_run_by_run ON case_run (run, bench_case, ifnull(process, 0));
CREATE INDEX case_run_by_bench_case ON case_run (bench_case);
CREATE INDEX case_run_by_process ON case_run (process);
CREATE VIEW v_run AS
SELECT
  r.id AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  s.name AS scenario,
  r.scenario_path AS scenario_path,
  r.status AS status,
  r.reason AS reason,
  r.origin AS origin,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.ended_at_ns / 1000000000, 'unixepoch') AS ended_at,
  (r.ended_at_ns - r.started_at_ns) / 1e9 AS duration_s,
  r.processes AS processes,
  (SELECT count(*) FROM plan_case p WHERE p.run = r.id) AS cases,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status = 'skipped') AS skipped,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status = 'ok') AS ok,
  (SELECT count(*) FROM case_run c WHERE c.run = r.id AND c.status NOT IN ('ok', 'skipped'))
    AS not_ok,
  (SELECT count(*) FROM check_result k WHERE k.run = r.id AND k.status = 'failed')
    AS checks_failed,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.cuda_driver_version AS cuda_driver_version,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.gpu_count AS gpu_count,
  e.node_count AS node_count,
  e.simulated AS simulated,
  e.key AS environment_key,
  r.haul_version AS haul_version,
  r.command_line AS command_line
FROM run r
JOIN environment e ON e.id = r.environment
JOIN scenario s ON s.id = r.scenario;
CREATE VIEW v_case AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.started_at_ns / 1000000000, 'unixepoch') AS started_at,
  p.ordinal AS process,
  c.id AS case_run,
  pc.position AS position,
  b.kind AS kind,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  b.path AS path,
  b.axes AS axes,
  f.method AS method,
  CASE
    WHEN EXISTS (
      SELECT 1 FROM flow g
      WHERE g.bench_case = b.id AND g.role = 'measured' AND g.ordinal <> f.ordinal
        AND g.source_place = f.target_place AND g.source_index = f.target_index
        AND g.source_memory = f.target_memory AND g.target_place = f.source_place
        AND g.target_index = f.source_index AND g.target_memory = f.source_memory
        AND (f.source_place <> f.target_place OR f.source_index <> f.target_index
             OR f.source_memory <> f.target_memory)) THEN 'both'
    WHEN f.source_place = 'gpu' AND f.target_place = 'gpu' AND f.source_index = f.target_index
      THEN 'local'
    WHEN f.source_place = 'gpu' AND f.target_place = 'gpu' THEN 'device_to_device'
    WHEN f.source_place = 'gpu' THEN 'device_to_host'
    WHEN f.target_place = 'gpu' THEN 'host_to_device'
    WHEN f.target_place = 'numa' THEN 'host_to_host'
  END AS direction,
  coalesce(f.source_place, h.memory_place) AS source_place,
  coalesce(f.source_index, h.memory_index) AS source_index,
  coalesce(f.source_memory, h.memory) AS source_memory,
  coalesce(f.target_place, CASE WHEN h.gpu IS NOT NULL THEN 'gpu' END) AS target_place,
  coalesce(f.target_index, h.gpu) AS target_index,
  f.target_memory AS target_memory,
  f.initiator AS initiator,
  f.staged AS staged,
  coalesce(f.gpu, h.gpu) AS gpu,
  (SELECT count(*) FROM flow g WHERE g.bench_case = b.id AND g.role = 'measured') AS flows,
  (SELECT count(*) FROM flow g WHERE g.bench_case = b.id AND g.role = 'load') AS loads,
  coalesce(f.size_bytes, h.footprint_bytes) AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  nullif(pc.traffic_bytes, 0) AS traffic_bytes,
  h.stride_bytes AS stride_bytes,
  h.hops AS hops,
  b.host_cache AS host_cache,
  b.device_cache AS device_cache,
  c.status AS status,
  c.reason AS reason,
  c.note AS note,
  c.n AS n,
  c.iterations AS iterations,
  c.clock AS clock,
  c.gated AS gated,
  c.verified AS verified,
  c.serialised AS serialised,
  c.stop AS stop,
  c.stop = 'precision' AS converged,
  c.median_ns AS median_ns,
  c.median_low_ns AS median_low_ns,
  c.median_high_ns AS median_high_ns,
  c.p5_ns AS p5_ns,
  c.p95_ns AS p95_ns,
  c.min_ns AS min_ns,
  c.max_ns AS max_ns,
  c.mean_ns AS mean_ns,
  c.cv AS cv,
  nullif(b.payload_bytes, 0) / c.median_ns AS gbps,
  nullif(b.payload_bytes, 0) / c.p95_ns AS gbps_p5,
  nullif(b.payload_bytes, 0) / c.p5_ns AS gbps_p95,
  nullif(b.payload_bytes, 0) / c.median_high_ns AS gbps_low,
  nullif(b.payload_bytes, 0) / c.median_low_ns AS gbps_high,
  nullif(pc.traffic_bytes, 0) / c.median_ns AS traffic_gbps,
  pc.peak_bytes_per_second / 1e9 AS peak_gbps,
  pc.limited_by AS limited_by,
  100.0 * (nullif(pc.traffic_bytes, 0) / c.median_ns) / (pc.peak_bytes_per_second / 1e9) AS percent_of_peak,
  c.median_ns / nullif(h.hops, 0) AS ns_per_hop,
  coalesce(
    (SELECT avg(t.sm_clock_khz) FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns),
    (SELECT t.sm_clock_khz FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns <= c.ended_at_ns
     ORDER BY t.at_ns DESC LIMIT 1)) / 1e3 AS sm_clock_mhz,
  coalesce(
    (SELECT avg(t.power_mw) FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns),
    (SELECT t.power_mw FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns <= c.ended_at_ns
     ORDER BY t.at_ns DESC LIMIT 1)) / 1e3 AS power_w,
  coalesce(
    (SELECT avg(t.temperature_c) FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns BETWEEN c.started_at_ns AND c.ended_at_ns),
    (SELECT CAST(t.temperature_c AS REAL) FROM telemetry t
     WHERE t.run = c.run AND t.gpu = coalesce(f.gpu, h.gpu) AND t.at_ns <= c.ended_at_ns
     ORDER BY t.at_ns DESC LIMIT 1)) AS temperature_c,
  c.allocate_ns AS allocate_ns,
  c.measure_ns AS measure_ns,
  c.verify_ns AS verify_ns,
  c.total_ns AS total_ns,
  s.name AS scenario,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.driver_branch AS driver_branch,
  e.kernel AS kernel,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated
FROM case_run c
JOIN run r ON r.id = c.run
JOIN environment e ON e.id = r.environment
JOIN scenario s ON s.id = r.scenario
JOIN bench_case b ON b.id = c.bench_case
JOIN plan_case pc ON pc.run = c.run AND pc.bench_case = c.bench_case
LEFT JOIN process p ON p.id = c.process
LEFT JOIN chase h ON h.bench_case = b.id
LEFT JOIN flow f ON f.bench_case = b.id
  AND f.ordinal = (SELECT min(g.ordinal) FROM flow g
                   WHERE g.bench_case = b.id AND g.role = 'measured');
CREATE VIEW v_run_case AS
SELECT
  c.run AS run,
  c.run_uuid AS run_uuid,
  c.tag AS tag,
  c.started_at AS started_at,
  c.position AS position,
  c.kind AS kind,
  c.block AS block,
  c.case_name AS case_name,
  c.case_key AS case_key,
  c.path AS path,
  c.axes AS axes,
  c.method AS method,
  c.direction AS direction,
  c.source_place AS source_place,
  c.source_index AS source_index,
  c.source_memory AS source_memory,
  c.target_place AS target_place,
  c.target_index AS target_index,
  c.target_memory AS target_memory,
  c.flows AS flows,
  c.size_bytes AS size_bytes,
  c.payload_bytes AS payload_bytes,
  c.status AS status,
  c.reason AS reason,
  c.note AS note,
  m.processes AS processes,
  m.n AS n,
  m.median_ns AS median_ns,
  m.low_ns AS low_ns,
  m.high_ns AS high_ns,
  c.payload_bytes / m.median_ns AS gbps,
  c.payload_bytes / m.high_ns AS gbps_low,
  c.payload_bytes / m.low_ns AS gbps_high,
  c.peak_gbps AS peak_gbps,
  c.limited_by AS limited_by,
  100.0 * (c.traffic_bytes / m.median_ns) / c.peak_gbps AS percent_of_peak,
  m.median_ns / nullif(c.hops, 0) AS ns_per_hop,
  c.scenario AS scenario,
  c.host_name AS host_name,
  c.driver_version AS driver_version,
  c.gpu_name AS gpu_name,
  c.simulated AS simulated
FROM v_case c
JOIN (
  SELECT x.id,
    (SELECT count(*) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS processes,
    (SELECT sum(y.n) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS n,
    -- The one or two values that have at most half of the others on either side.
    (SELECT avg(DISTINCT y.median_ns) FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok'
       AND (SELECT max(2 * sum(z.median_ns < y.median_ns), 2 * sum(z.median_ns > y.median_ns))
                   <= count(*)
            FROM case_run z
            WHERE z.run = y.run AND z.bench_case = y.bench_case AND z.status = 'ok'))
      AS median_ns,
    (SELECT CASE WHEN count(*) > 1 THEN min(y.median_ns) ELSE min(y.median_low_ns) END
     FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS low_ns,
    (SELECT CASE WHEN count(*) > 1 THEN max(y.median_ns) ELSE max(y.median_high_ns) END
     FROM case_run y
     WHERE y.run = x.run AND y.bench_case = x.bench_case AND y.status = 'ok') AS high_ns
  FROM case_run x
  -- Of the processes, the one that tells most: one that went wrong, else the first.
  WHERE x.id = (SELECT y.id FROM case_run y
                WHERE y.run = x.run AND y.bench_case = x.bench_case
                ORDER BY y.status = 'ok', y.process, y.id LIMIT 1)) m ON m.id = c.case_run
;
CREATE VIEW v_trial AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  p.ordinal AS process,
  c.id AS case_run,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  b.path AS path,
  b.axes AS axes,
  t.ordinal AS trial,
  CASE t.phase WHEN 0 THEN 'warmup' ELSE 'measure' END AS phase,
  CASE t.status WHEN 0 THEN 'ok' WHEN 1 THEN 'gate_timeout' ELSE 'corrupt' END AS status,
  coalesce(h.footprint_bytes, (SELECT f.size_bytes FROM flow f
    WHERE f.bench_case = b.id AND f.role = 'measured' ORDER BY f.ordinal LIMIT 1)) AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  t.iterations AS iterations,
  t.start_ns AS start_ns,
  t.elapsed_ns AS elapsed_ns,
  t.cycles AS cycles,
  1.0 * t.elapsed_ns / t.iterations AS ns,
  1.0 * nullif(b.payload_bytes, 0) * t.iterations / t.elapsed_ns AS gbps,
  1.0 * t.elapsed_ns / t.iterations / nullif(h.hops, 0) AS ns_per_hop,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated
FROM trial t
JOIN case_run c ON c.id = t.case_run
JOIN run r ON r.id = c.run
JOIN environment e ON e.id = r.environment
JOIN bench_case b ON b.id = c.bench_case
JOIN process p ON p.id = c.process
LEFT JOIN chase h ON h.bench_case = b.id;
CREATE VIEW v_flow AS
SELECT
  c.run AS run,
  r.uuid AS run_uuid,
  r.tag AS tag,
  p.ordinal AS process,
  c.id AS case_run,
  b.block AS block,
  b.name AS case_name,
  b.case_key AS case_key,
  f.ordinal AS flow,
  f.role AS role,
  f.method AS method,
  f.source_place AS source_place,
  f.source_index AS source_index,
  f.source_memory AS source_memory,
  f.target_place AS target_place,
  f.target_index AS target_index,
  f.target_memory AS target_memory,
  f.initiator AS initiator,
  f.staged AS staged,
  f.size_bytes AS size_bytes,
  c.status AS status,
  coalesce(x.n, CASE WHEN f.sole THEN c.n END) AS n,
  coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) AS median_ns,
  coalesce(x.p5_ns, CASE WHEN f.sole THEN c.p5_ns END) AS p5_ns,
  coalesce(x.p95_ns, CASE WHEN f.sole THEN c.p95_ns END) AS p95_ns,
  f.size_bytes / coalesce(x.median_ns, CASE WHEN f.sole THEN c.median_ns END) AS gbps,
  e.host_name AS host_name,
  e.driver_version AS driver_version,
  e.gpu_name AS gpu_name,
  e.simulated AS simulated
FROM case_run c
JOIN run r ON r.id = c.run
JOIN environment e ON e.id = r.environment
JOIN bench_case b ON b.id = c.bench_case
JOIN (
  SELECT f.*,
    NOT EXISTS (SELECT 1 FROM flow g
                WHERE g.bench_case = f.bench_case AND g.ordinal <> f.ordinal) AS sole
  FROM flow f) f ON f.bench_case = b.id
LEFT JOIN process p ON p.id = c.process
LEFT JOIN flow_run x ON x.case_run = c.id AND x.flow = f.ordinal;
CREATE VIEW v_pair AS
SELECT
  run,
  run_uuid,
  tag,
  block,
  axes,
  case_name,
  case_key,
  kind,
  method,
  direction,
  size_bytes,
  source_place,
  source_index,
  source_memory,
  target_place,
  target_index,
  target_memory,
  source_place || source_index AS source,
  target_place || target_index AS target,
  status,
  reason,
  processes,
  median_ns,
  gbps,
  percent_of_peak,
  ns_per_hop,
  host_name,
  driver_version,
  gpu_name,
  simulated
FROM v_run_case
WHERE flows = 1 OR (flows = 2 AND direction = 'both') OR kind = 'chase';
CREATE VIEW v_driver AS
WITH
  result AS (
    SELECT b.case_key, e.host_name, e.gpu_name, e.driver_version, e.driver_branch, e.simulated,
      c.run, c.bench_case, c.median_ns, c.n, r.started_at_ns,
      row_number() OVER same AS i,
      count(*) OVER (PARTITION BY b.case_key, e.host_name, e.gpu_name, e.driver_version,
                       e.simulated) AS m
    FROM case_run c
    JOIN run r ON r.id = c.run
    JOIN environment e ON e.id = r.environment
    JOIN bench_case b ON b.id = c.bench_case
    WHERE c.status = 'ok' AND c.median_ns IS NOT NULL
    WINDOW same AS (PARTITION BY b.case_key, e.host_name, e.gpu_name, e.driver_version,
                      e.simulated ORDER BY c.median_ns)),
  version AS (
    SELECT case_key, host_name, gpu_name, driver_version, driver_branch, simulated,
      count(DISTINCT run) AS runs, m AS processes, sum(n) AS n,
      max(bench_case) AS bench_case,
      avg(CASE WHEN 2 * i BETWEEN m AND m + 2 THEN median_ns END) AS median_ns,
      min(median_ns) AS low_ns, max(median_ns) AS high_ns,
      min(started_at_ns) AS first_ns, max(started_at_ns) AS last_ns
    FROM result
    GROUP BY case_key, host_name, gpu_name, driver_version, simulated)
SELECT
  v.case_key AS case_key,
  b.kind AS kind,
  b.block AS block,
  b.name AS case_name,
  b.path AS path,
  b.axes AS axes,
  (SELECT f.method FROM flow f WHERE f.bench_case = b.id AND f.role = 'measured'
   ORDER BY f.ordinal LIMIT 1) AS method,
  coalesce(h.footprint_bytes, (SELECT f.size_bytes FROM flow f
    WHERE f.bench_case = b.id AND f.role = 'measured' ORDER BY f.ordinal LIMIT 1)) AS size_bytes,
  nullif(b.payload_bytes, 0) AS payload_bytes,
  v.host_name AS host_name,
  v.gpu_name AS gpu_name,
  v.driver_version AS driver_version,
  v.driver_branch AS driver_branch,
  v.simulated AS simulated,
  v.runs AS runs,
  v.processes AS processes,
  v.n AS n,
  v.median_ns AS median_ns,
  v.low_ns AS low_ns,
  v.high_ns AS high_ns,
  100.0 * (v.high_ns - v.low_ns) / v.median_ns AS spread_percent,
  nullif(b.payload_bytes, 0) / v.median_ns AS gbps,
  nullif(b.payload_bytes, 0) / v.high_ns AS gbps_low,
  nullif(b.payload_bytes, 0) / v.low_ns AS gbps_high,
  v.median_ns / nullif(h.hops, 0) AS ns_per_hop,
  strftime('%Y-%m-%dT%H:%M:%SZ', v.first_ns / 1000000000, 'unixepoch') AS first_run_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', v.last_ns / 1000000000, 'unixepoch') AS last_run_at
FROM version v
JOIN bench_case b ON b.id = v.bench_case
LEFT JOIN chase h ON h.bench_case = b.id;
COMMIT;
PRAGMA user_version = 1000;
