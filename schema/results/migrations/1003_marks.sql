-- Schema 1.3, with haul 0.2.0: what slowed a number stands beside it, and who measures a run.

-- measure.pause.
ALTER TABLE run ADD COLUMN pause_ns INTEGER; -- between two processes; 0: none
-- What slowed a case: throttling, somebody else on its GPU, a PCIe link below its best. NULL: nothing
-- that was noticed.
ALTER TABLE case_run ADD COLUMN slowed_by TEXT;
CREATE INDEX case_run_slowed ON case_run (run) WHERE slowed_by IS NOT NULL;
-- What happens where a check has no answer; NULL: recorded before 1.3.
ALTER TABLE check_result ADD COLUMN on_unknown TEXT;
-- Compute processes on the GPU that are not of this run; NULL: not known.
ALTER TABLE telemetry ADD COLUMN other_processes INTEGER;

-- haul run --decide: how often at most its side is judged, and at which of these looks, from 2 on, the results of
-- this run come in. NULL: a run of its own.
ALTER TABLE run ADD COLUMN looks INTEGER;
ALTER TABLE run ADD COLUMN look INTEGER;
-- uuid of the run of which this one measured some cases once more (measure.verdict). NULL: a run of its own.
ALTER TABLE run ADD COLUMN repeats TEXT;
CREATE INDEX run_by_repeats ON run (repeats) WHERE repeats IS NOT NULL;

-- What is measured once and shown wherever the scenario asks for it.
ALTER TABLE plan_case ADD COLUMN listed INTEGER; -- place in the scenario's order, with those of plan_alias
CREATE TABLE plan_alias (
  run INTEGER NOT NULL REFERENCES run (id),
  bench_case INTEGER NOT NULL REFERENCES bench_case (id), -- as it is named here; it has no results of its own
  measured_by INTEGER NOT NULL REFERENCES bench_case (id), -- in plan_case, with the same case_key
  listed INTEGER NOT NULL CHECK (listed >= 0),
  PRIMARY KEY (run, bench_case)
) WITHOUT ROWID;
-- Repeats of a flow in elapsed_ns; NULL: those of its trial.
ALTER TABLE flow_trial ADD COLUMN iterations INTEGER CHECK (iterations > 0);

-- The highest number that a deleted run had: numbers do not come again. No row: none was deleted.
CREATE TABLE deleted_number (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  highest INTEGER NOT NULL
);

-- Many nodes: haul run --shard.
-- The launcher's name of the machine, where it is another than the host's, short or whole; NULL: the host's counts.
ALTER TABLE environment ADD COLUMN node TEXT;
-- Runs that were started together, one per node.
CREATE TABLE fleet (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE CHECK (length(key) = 32), -- of name and expected
  name TEXT NOT NULL,                                -- Slurm's job and step, --tag, or the folder of the shards
  expected TEXT                                      -- nodes, "n[01-32],m1"; NULL: not known
);
ALTER TABLE run ADD COLUMN fleet INTEGER REFERENCES fleet (id); -- NULL: a run of its own
CREATE INDEX run_by_fleet ON run (fleet) WHERE fleet IS NOT NULL;
-- fleet.expected, one by one; haul merge expands it.
CREATE TABLE fleet_node (
  fleet INTEGER NOT NULL REFERENCES fleet (id),
  node TEXT NOT NULL,
  PRIMARY KEY (fleet, node)
) WITHOUT ROWID;
-- What the launcher says of the run: slurm_job_id, ...
CREATE TABLE run_fact (
  run INTEGER NOT NULL REFERENCES run (id),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run, name)
) WITHOUT ROWID;
-- What haul merge read, so that it reads it once. Local to a database.
CREATE TABLE merged_input (
  path TEXT PRIMARY KEY,
  version TEXT, -- size, times and change counter of the file; NULL: to be read again
  node TEXT,    -- of the shard, from its name; NULL: not a shard
  run_uuid TEXT,
  runs INTEGER, -- in it
  reason TEXT   -- why it was skipped; NULL: it was merged
) WITHOUT ROWID;
-- The few results that went wrong, for counts.
CREATE INDEX case_run_not_ok ON case_run (run, status) WHERE status <> 'ok';

-- Clock of the processor that starts the trials, before the first and after the last, from a timed loop.
ALTER TABLE case_run ADD COLUMN cpu_before_khz INTEGER;
ALTER TABLE case_run ADD COLUMN cpu_after_khz INTEGER;

-- What noise kept the trials from being as precise as was asked for: dips, drift, two_modes, white (none of these), or
-- unknown (too few trials). NULL: they are, or it was recorded before 1.3.
ALTER TABLE case_run ADD COLUMN noise TEXT;
ALTER TABLE case_run ADD COLUMN noise_size REAL; -- how far levels are apart, relative; negative: the last trials are faster
ALTER TABLE case_run ADD COLUMN noise_ns REAL;   -- length of a dip
CREATE INDEX case_run_noise ON case_run (run, bench_case) WHERE noise IS NOT NULL;

-- What was called warm was as the trial before left it: host_cache = "as_is" from 1.3 on.
ALTER TABLE bench_case ADD COLUMN host_written INTEGER; -- 1: threads of the node write its buffers before each trial
UPDATE scenario SET resolved = replace(replace(replace(resolved,
  'host_cache = "warm"', 'host_cache = "as_is"'), 'host_cache = ["warm"', 'host_cache = ["as_is"'),
  'host_cache = ["flushed", "warm"', 'host_cache = ["flushed", "as_is"');
-- Time to read a probe of 128 KiB, written or flushed before; NULL: no caches were brought into a state.
ALTER TABLE case_run ADD COLUMN cache_warm_ns INTEGER;
ALTER TABLE case_run ADD COLUMN cache_flushed_ns INTEGER;
ALTER TABLE chase ADD COLUMN access TEXT; -- bulk: by the bulk copy engine; NULL: by load
ALTER TABLE chase ADD COLUMN element_bytes INTEGER; -- 4; NULL: 8, in shared memory 4
-- Processors that the threads could run on that copied, or else started the trials: "0-23,48".
ALTER TABLE case_run ADD COLUMN cpus TEXT;
ALTER TABLE stream ADD COLUMN repeat_order TEXT; -- sequence: after STREAM's other operations; NULL: alone

ALTER TABLE telemetry ADD COLUMN energy_mj INTEGER; -- NVML's counter, since the driver was loaded

-- Method um, mode demand; NULL: write, linear, one pass, the first touch, one end alone.
ALTER TABLE flow ADD COLUMN unified_access TEXT;
ALTER TABLE flow ADD COLUMN unified_order TEXT;
ALTER TABLE flow ADD COLUMN unified_passes INTEGER;
ALTER TABLE flow ADD COLUMN unified_again INTEGER;
ALTER TABLE flow ADD COLUMN unified_together INTEGER;

-- Flows with several copies, and those that follow each other on one stream. NULL: one, beside all others.
ALTER TABLE flow ADD COLUMN copies INTEGER;
ALTER TABLE flow ADD COLUMN stream INTEGER;
-- Scattered copies; NULL: contiguous or strided.
ALTER TABLE flow ADD COLUMN pieces INTEGER;
ALTER TABLE flow ADD COLUMN piece_bytes INTEGER;
ALTER TABLE flow ADD COLUMN piece_places TEXT; -- random, strided
ALTER TABLE flow ADD COLUMN submit TEXT;       -- of copy engines: loop, batch
-- Of a scattered copy, beside elapsed_ns from the first call to the end on the host's clock; NULL: not timed.
ALTER TABLE trial ADD COLUMN submit_ns INTEGER; -- from the first call to the return of the last
ALTER TABLE trial ADD COLUMN gpu_ns INTEGER;    -- between events on the GPU
ALTER TABLE case_run ADD COLUMN median_submit_ns REAL;
ALTER TABLE case_run ADD COLUMN median_gpu_ns REAL;

PRAGMA user_version = 1003;
