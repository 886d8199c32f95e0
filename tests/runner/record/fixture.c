#include "tests/runner/record/fixture.h"

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/check.h"
#include "engine/machine/machine.h"
#include "runner/plan/definition.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

/* Checks that hold in release builds of a benchmark too. */
static void must(bool done, const char *what) {
  if (!done) {
    fprintf(stderr, "fixture: %s\n", what);
    abort();
  }
}

static const struct flow HOST_TO_DEVICE[] = {{
    .method = METHOD_CE,
    .source = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PINNED},
    .target = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE},
    .initiator = INITIATOR_TARGET,
    .size_bytes = 64 << 20,
}};
static const struct flow BOTH_WAYS[] = {
    {.method = METHOD_CE,
     .source = {.place = PLACE_GPU, .index = 0, .memory = MEMORY_DEVICE},
     .target = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE},
     .size_bytes = 1 << 20},
    {.method = METHOD_CE,
     .source = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE},
     .target = {.place = PLACE_GPU, .index = 0, .memory = MEMORY_DEVICE},
     .size_bytes = 1 << 20},
};
static const struct flow HOST_TO_HOST[] = {{
    .method = METHOD_CPU,
    .source = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PAGEABLE},
    .target = {.place = PLACE_NUMA, .index = 1, .memory = MEMORY_PAGEABLE},
    .size_bytes = 4096,
    .threads = 4,
}};

static void set_case(struct fixture *fixture, size_t index, const char *block, const char *path,
                     const struct flow *flows, uint32_t flow_count) {
  static const char *const KEYS[FIXTURE_CASES] = {
      "00000000000000000000000000000000", "11111111111111111111111111111111",
      "22222222222222222222222222222222", "33333333333333333333333333333333",
      "44444444444444444444444444444444", "55555555555555555555555555555555"};
  static const char *const NAMES[FIXTURE_CASES] = {
      "h2d/numa0:pinned-gpu1/64MiB", "d2d/gpu0<>gpu1/1MiB", "um/gpu0-gpu1/1MiB",
      "host/numa0-numa1/4KiB",       "latency/numa0-gpu0",  "launch/gpu1"};
  struct plan_case *planned = &fixture->cases[index];
  uint64_t payload_bytes = 0;
  for (uint32_t i = 0; i < flow_count; i++) {
    payload_bytes += flows[i].size_bytes;
  }
  planned->def = (struct case_def){
      .kind = CASE_TRANSFER,
      .key = KEYS[index],
      .block = block,
      .name = NAMES[index],
      .path = path,
      .flows = flows,
      .flow_count = flow_count,
      .payload_bytes = payload_bytes,
      .figure = payload_bytes > 0 ? FIGURE_RATE : FIGURE_TIME,
      .figure_amount = payload_bytes > 0 ? payload_bytes : 1,
      .traffic_bytes = payload_bytes,
      .limit = index == 0 ? LIMIT_PCIE : LIMIT_UNKNOWN,
      .peak_bytes_per_second = index == 0 ? 63015384615 : 0,
  };
  planned->axes = index == 0 ? "size=64MiB" : "";
  planned->estimate_ns = 50000000;
  planned->listed = index;
}

static void set_machine(struct machine *machine) {
  (void)snprintf(machine->host_name, sizeof machine->host_name, "testhost");
  (void)snprintf(machine->source, sizeof machine->source, "probe");
  (void)snprintf(machine->cuda_state, sizeof machine->cuda_state, "ok");
  machine->simulated = true;
  machine->gpu_count = 2;
  machine->node_count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    struct gpu *gpu = &machine->gpus[i];
    (void)snprintf(gpu->name, sizeof gpu->name, "NVIDIA H200");
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%08u", i);
    (void)snprintf(gpu->pci_address, sizeof gpu->pci_address, "0000:0%u:00.0", 6 + i);
    gpu->memory_bytes = UINT64_C(150) << 30;
    machine->nodes[i] = (struct numa_node){(int32_t)i, 32, UINT64_C(512) << 30, 1};
    for (uint32_t j = 0; j < 2; j++) {
      machine->node_distance[i][j] = i == j ? 10 : 21;
      machine->links[i][j] = (struct gpu_link){true, 18, UINT64_C(478000000000)};
    }
  }
  machine_add_fact(machine, "driver_version", -1, FACT_OK, "580.159.04");
  machine_add_fact(machine, "driver_branch", -1, FACT_OK, "r580");
  machine_add_fact(machine, "kernel", -1, FACT_OK, "6.1.0-test");
  machine_add_fact(machine, "cpu_model", -1, FACT_OK, "Test CPU");
  machine_add_fact(machine, "microcode", -1, FACT_DENIED, "not readable");
  machine_add_fact(machine, "ecc", 0, FACT_OK, "on");
}

void fixture_define(struct fixture *fixture) {
  for (size_t i = 0; i < FIXTURE_CASES; i++) {
    struct case_def *def = &fixture->cases[i].def;
    SCOPED(strbuf_fini) struct strbuf text;
    strbuf_init(&text, sizeof fixture->definitions[i] - 1);
    if (i == FIXTURE_SKIPPED) {
      definition_append_unresolved(&text, def->kind, def->name);
    } else {
      definition_append(&text, def);
    }
    (void)snprintf(fixture->definitions[i], sizeof fixture->definitions[i], "%s", text.text);
    def->definition = fixture->definitions[i];
  }
}

void fixture_set_keys(struct fixture *fixture) {
  for (size_t i = 0; i < FIXTURE_CASES; i++) {
    definition_key(fixture->definitions[i], strlen(fixture->definitions[i]), fixture->keys[i]);
    fixture->cases[i].def.key = fixture->keys[i];
  }
}

struct fixture *fixture_new(void) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  must(fixture != NULL, "memory");
  const char *place = getenv("TMPDIR");
  (void)snprintf(fixture->folder, sizeof fixture->folder, "%s/haul-record-XXXXXX",
                 place == NULL || strlen(place) > 40 ? "/tmp" : place);
  must(mkdtemp(fixture->folder) != NULL, "folder");
  (void)snprintf(fixture->path, sizeof fixture->path, "%s/results.db", fixture->folder);
  fixture->machine = calloc(1, sizeof *fixture->machine);
  must(fixture->machine != NULL, "memory");
  set_machine(fixture->machine);
  set_case(fixture, 0, "h2d", "numa0:pinned-gpu1", HOST_TO_DEVICE, 1);
  set_case(fixture, 1, "d2d", "gpu0<>gpu1", BOTH_WAYS, 2);
  set_case(fixture, FIXTURE_SKIPPED, "um", "gpu0-gpu1", NULL, 0);
  set_case(fixture, 3, "host", "numa0-numa1", HOST_TO_HOST, 1);
  set_case(fixture, 4, "latency", "numa0-gpu0", NULL, 0);
  fixture->cases[FIXTURE_SKIPPED].skip_reason = "GPU 0 has no managed memory";
  fixture->cases[4].def.kind = CASE_CHASE;
  fixture->cases[4].def.figure = FIGURE_HOP;
  fixture->cases[4].def.figure_amount = 1000;
  fixture->cases[4].def.operations = 1000;
  fixture->works = calloc(FIXTURE_CASES, sizeof *fixture->works);
  must(fixture->works != NULL, "calloc");
  fixture->cases[4].def.work = &fixture->works[4];
  fixture->works[4].chase =
      (struct chase){.space = CHASE_HOST,
                     .gpu = 0,
                     .memory = {.place = PLACE_NUMA, .index = 0, .memory = MEMORY_PINNED},
                     .footprint_bytes = 1 << 20,
                     .stride_bytes = 64,
                     .threads = 1,
                     .blocks = 1,
                     .hops = 1000};
  set_case(fixture, 5, "launch", "gpu1", NULL, 0);
  fixture->cases[5].def.kind = CASE_OVERHEAD;
  fixture->cases[5].def.figure = FIGURE_CALL;
  fixture->cases[5].def.figure_amount = 1;
  fixture->cases[5].def.work = &fixture->works[5];
  fixture->works[5].overhead = (struct overhead){.operation = OVERHEAD_KERNEL_LAUNCH, .gpu = 1};
  fixture_define(fixture);
  fixture->scenario = (struct scenario){.path = "test.toml",
                                        .name = "test",
                                        .description = "made up",
                                        .text = "name = \"test\"\n",
                                        .resolved = "name = \"test\"\n",
                                        .run = {.seed = UINT64_MAX, .telemetry_ns = 100000000}};
  fixture->plan = (struct plan){.scenario = &fixture->scenario,
                                .machine = fixture->machine,
                                .cases = fixture->cases,
                                .case_count = FIXTURE_CASES,
                                .skip_count = 1};
  static const struct run_launch LAUNCH = {
      .fleet = "lab/77.0",
      .expected = "n[1-3]",
      .facts = {{"slurm_job_id", "77"}, {"slurm_step_id", "0"}},
      .fact_count = 2,
  };
  fixture->info = (struct run_info){.tag = "nightly",
                                    .launch = &LAUNCH,
                                    .command_line = "haul run test.toml",
                                    .haul_version = "0.1.0",
                                    .processes = 1};
  return fixture;
}

void fixture_free(struct fixture *fixture) {
  DIR *folder = opendir(fixture->folder);
  must(folder != NULL, "folder is gone");
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    (void)unlinkat(dirfd(folder), entry->d_name, 0);
  }
  (void)closedir(folder);
  (void)rmdir(fixture->folder);
  free(fixture->machine);
  free(fixture->works);
  free(fixture);
}

int fixture_set_up(void **state) {
  *state = fixture_new();
  return 0;
}

int fixture_tear_down(void **state) {
  fixture_free(*state);
  return 0;
}

void fixture_set_fact(struct fixture *fixture, const char *name, const char *value) {
  for (uint32_t i = 0; i < fixture->machine->fact_count; i++) {
    if (strcmp(fixture->machine->facts[i].name, name) == 0) {
      (void)snprintf(fixture->machine->facts[i].value, sizeof fixture->machine->facts[i].value,
                     "%s", value);
    }
  }
}

/* Whatever makes the database finds it made: that takes a tenth of a second with sanitizers, and is
 * done once. */
static void make_database(const struct fixture *fixture) {
  static struct bytes made;
  if (access(fixture->path, F_OK) == 0) {
    return;
  }
  if (made.data != NULL) {
    bytes_write(fixture->path, made);
    return;
  }
  struct database *database = NULL;
  struct error err = {0};
  const enum status status = database_open(fixture->path, DATABASE_WRITE, &database, &err);
  must(status == STATUS_OK, err.message);
  database_close(database);
  made = bytes_read(fixture->path);
}

enum status fixture_begin(const struct fixture *fixture, struct record **record,
                          struct error *err) {
  make_database(fixture);
  const enum status status = record_open(fixture->path, record, err);
  return THEN(status, record_begin_run(*record, &fixture->info, fixture->machine, &fixture->plan,
                                       NULL, 0, err));
}

struct record *fixture_start(const struct fixture *fixture) {
  struct record *record = NULL;
  struct error err = {0};
  enum status status = fixture_begin(fixture, &record, &err);
  status = THEN(status, record_process_started(record, 0, 1, &err));
  must(status == STATUS_OK, err.message);
  return record;
}

struct record *fixture_resume(const struct fixture *fixture, struct record *record) {
  struct resumed_run resumed = {0};
  struct error err = {0};
  enum status status = record != NULL ? STATUS_OK : record_open(fixture->path, &record, &err);
  status = THEN(status, record_resume_find(record, "latest", &resumed, &err));
  status =
      THEN(status, record_resume_run(record, &resumed, fixture->machine, &fixture->plan, &err));
  status = THEN(status, record_continue_run(record, NULL, 0, &err));
  must(status == STATUS_OK, err.message);
  resumed_run_fini(&resumed);
  return record;
}

struct database *fixture_open(const struct fixture *fixture, enum database_access access) {
  struct database *database = NULL;
  struct error err = {0};
  make_database(fixture);
  const enum status status = database_open(fixture->path, access, &database, &err);
  must(status == STATUS_OK, err.message);
  return database;
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

const struct case_report *fixture_report(struct fixture *fixture, uint32_t process, size_t index,
                                         size_t trial_count) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  uint64_t start_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
  uint64_t state = 77 * index + 1000003 * (uint64_t)process + 1;
  must(trial_count <= FIXTURE_TRIALS_MAX, "trial_count");
  for (uint32_t i = 0; i < trial_count; i++) {
    uint64_t elapsed_ns =
        UINT64_C(4800000) + UINT64_C(1000) * process + next_random(&state) % 20000;
    fixture->trials[i] = (struct trial){.ordinal = i,
                                        .phase = i < 2 ? TRIAL_WARMUP : TRIAL_MEASURE,
                                        .status = i == 3 ? TRIAL_GATE_TIMEOUT : TRIAL_OK,
                                        .iterations = 4,
                                        .start_ns = start_ns + i * UINT64_C(5000000),
                                        .elapsed_ns = elapsed_ns};
    for (uint32_t flow = 0; flow < 2; flow++) {
      fixture->flow_trials[2 * i + flow] = (struct flow_trial){
          i, flow, UINT64_C(100) * flow, elapsed_ns - 100 - UINT64_C(1000) * flow, 0};
    }
  }
  fixture->outcome = (struct case_outcome){.status = CASE_OK,
                                           .stop = STOP_PRECISION,
                                           .clock = CLOCK_EVENT,
                                           .gated = true,
                                           .verified = true,
                                           .iterations = 4,
                                           .total_ns = 600000000};
  fixture->report = (struct case_report){
      .process = process,
      .case_index = index,
      .outcome = &fixture->outcome,
      .trials = fixture->trials,
      .trial_count = trial_count,
      .flow_trials = fixture->flow_trials,
      .flow_trial_count = fixture->cases[index].def.flow_count > 1 ? 2 * trial_count : 0};
  return &fixture->report;
}

void fixture_record_case(struct fixture *fixture, struct record *record, size_t index,
                         size_t trial_count) {
  struct error err = {0};
  const enum status status =
      record_case(record, &fixture->plan, fixture_report(fixture, 0, index, trial_count), &err);
  must(status == STATUS_OK, err.message);
}

void fixture_record_run(struct fixture *fixture, uint32_t processes) {
  SCOPED(record_close_at) struct record *record = NULL;
  struct error err = {0};
  struct check_result check = {CHECK_GOVERNOR, ON_FAIL_WARN, ON_FAIL_RECORD, CHECK_FAILED, -1,
                               "performance",  "powersave"};
  fixture->info.processes = processes;
  make_database(fixture);
  enum status status = record_open(fixture->path, &record, &err);
  must(status == STATUS_OK, err.message);
  status =
      record_begin_run(record, &fixture->info, fixture->machine, &fixture->plan, &check, 1, &err);
  for (uint32_t process = 0; process < processes; process++) {
    status = THEN(status, record_process_started(record, process, 100, &err));
    for (size_t i = 0; i < FIXTURE_CASES && status == STATUS_OK; i++) {
      if (fixture->cases[i].skip_reason != NULL) {
        continue;
      }
      const struct case_report *report = fixture_report(fixture, process, i, 50);
      struct telemetry_sample sample = {.time_ns = report->trials[20].start_ns,
                                        .gpu = 1,
                                        .sm_clock_khz = 1980000,
                                        .memory_clock_khz = -1,
                                        .power_mw = 350000,
                                        .energy_mj = -1,
                                        .temperature_c = 45,
                                        .utilization_percent = 100,
                                        .pcie_generation = 5,
                                        .pcie_width = 16};
      status = record_telemetry(record, &sample, 1, &err);
      status = THEN(status, record_case(record, &fixture->plan, report, &err));
    }
    status = THEN(status, record_process_ended(record, process, &err));
  }
  status = THEN(status, record_end_run(record, "done", NULL, &err));
  must(status == STATUS_OK, err.message);
}

char *fixture_query(const struct fixture *fixture, const char *sql) {
  sqlite3 *handle = NULL;
  sqlite3_stmt *stmt = NULL;
  must(sqlite3_open(fixture->path, &handle) == SQLITE_OK, "open");
  if (sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) != SQLITE_OK) {
    must(false, sqlite3_errmsg(handle));
  }
  must(sqlite3_step(stmt) == SQLITE_ROW, "no row");
  const char *text = (const char *)sqlite3_column_text(stmt, 0);
  char *value = strdup(text != NULL ? text : "NULL");
  (void)sqlite3_finalize(stmt);
  (void)sqlite3_close(handle);
  return value;
}

void assert_query(const struct fixture *fixture, const char *sql, const char *expected) {
  SCOPED(memory_free) char *value = fixture_query(fixture, sql);
  if (strcmp(value, expected) != 0) {
    fail_msg("%s\n  gives %s, not %s", sql, value, expected);
  }
}

void fixture_execute(const char *path, const char *sql) {
  sqlite3 *handle = NULL;
  must(sqlite3_open(path, &handle) == SQLITE_OK, "open");
  if (sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
    must(false, sqlite3_errmsg(handle));
  }
  (void)sqlite3_close(handle);
}

void fixture_load(const struct fixture *fixture, const char *name) {
  enum { FILE_MAX = 1 << 20 };
  PRINTED(path, 256, HAUL_SOURCE_DIR "/tests/data/%s", name);
  FILE *file = fopen(path, "r");
  SCOPED(memory_free) char *sql = calloc(1, FILE_MAX);
  must(file != NULL && sql != NULL && fread(sql, 1, FILE_MAX - 1, file) > 0, path);
  (void)fclose(file);
  fixture_execute(fixture->path, sql);
}
