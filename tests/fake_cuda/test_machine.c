/* The fake machine: [fake] is read whole, or a mistake is reported with its position; links share
 * as their machine says; haul finds on it what the machine's file says. */
#include "tests/fake_cuda/in_child.h"

#include "engine/machine/probe.h"
#include "schema/machine/machine_file.h"
#include "tests/fake_cuda/machine/links.h"

#include <dirent.h>
#include <math.h>
#include <unistd.h>

static struct error load_error; /* of the last load() */

static struct fake_config *load(const char *machine, const char *faults, enum status wanted) {
  struct fake_config *config = malloc(sizeof *config);
  struct error error = {0};
  assert_non_null(config);
  PRINTED(path, 4096, "%s/tests/machines/%s", HAUL_SOURCE_DIR, machine);
  enum status status = config_load(config, path, faults, &error);
  if (status != wanted) {
    print_error("%s: %s\n", faults, error.message);
  }
  assert_int_equal(status, wanted);
  if (wanted == STATUS_INVALID) {
    assert_true(error.position.line > 0 && error.position.column > 0);
  }
  load_error = error;
  return config;
}

static void unload(struct fake_config *config) {
  config_fini(config);
  free(config);
}

TEST(all_faults_fit_all_machines) {
  PRINTED(folder, 4096, "%s/tests/fake_cuda/faults", HAUL_SOURCE_DIR);
  DIR *files = opendir(folder);
  int count = 0;
  assert_non_null(files);
  for (const struct dirent *file; (file = readdir(files)) != NULL;) {
    if (strstr(file->d_name, ".toml") != NULL) {
      PRINTED(path, 8192, "%s/%s", folder, file->d_name);
      unload(load("h100x8-nvlink.toml", path, STATUS_OK));
      unload(load("no-gpu.toml", path, STATUS_OK));
      count++;
    }
  }
  (void)closedir(files);
  assert_true(count > 0);
}

static struct fake_config *load_text(const char *machine, const char *text, enum status wanted) {
  char name[] = "/tmp/haul-faults-XXXXXX";
  int file = mkstemp(name);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  assert_int_equal(close(file), 0);
  struct fake_config *config = load(machine, name, wanted);
  assert_int_equal(unlink(name), 0);
  return config;
}

static void expect_invalid(const char *text) {
  unload(load_text("no-gpu.toml", text, STATUS_INVALID));
}

static void expect_message(const char *text, const char *message) {
  expect_invalid(text);
  assert_string_equal(load_error.message, message);
}

TEST(a_message_names_the_table_that_is_wrong) {
  expect_message("[[fake.link]]\nfactr = 1\n",
                 "unknown key \"factr\" in [[fake.link]], which has: from, to, factor");
  expect_message("[fake.noise]\nepisodes = [[0, 1, 0.5]]\n",
                 "unknown key \"episodes\" in [fake.noise], which has: seed, within, between");
  expect_message("[[fake.noise]]\nfrom = 0\nepisodes = [[0, 1, 0.8]]\n",
                 "[fake.noise] is one table; other programs on a link are [[fake.disturbance]], "
                 "where factor multiplies the speed");
  expect_message("[[fake.disturbance]]\nepisodes = [[0, 1, 1.2]]\n",
                 "expected a factor from 1e-06 to 1: it multiplies the speed");
}

TEST(noise_and_disturbances_stand_in_one_file) {
  static const char *const tables[] = {"[fake.noise]\nseed = 7\n",
                                       "[[fake.disturbance]]\nepisodes = [[0, 1, 0.5]]\n"};
  for (size_t first = 0; first < 2; first++) {
    PRINTED(text, 256, "%s%s", tables[first], tables[1 - first]);
    struct fake_config *config = load_text("no-gpu.toml", text, STATUS_OK);
    assert_int_equal(config->seed, 7);
    assert_int_equal(config->disturbance_count, 1);
    unload(config);
  }
}

TEST(mistakes_are_errors_with_a_position) {
  expect_invalid("[machine]\n");
  expect_invalid("fake = 1\n");
  expect_invalid("[fake]\nclok = \"real\"\n");
  expect_invalid("[fake]\nclock = \"slow\"\n");
  expect_invalid("[fake.speeds]\nlocal = 0\n");
  expect_invalid("[fake.speeds]\nlocall = 1\n");
  expect_invalid("[fake.noise]\nwithin = -1\n");
  expect_invalid("[[fake.disturbance]]\nfrom = 0\n");
  expect_invalid("[[fake.disturbance]]\nepisodes = [[0, 1]]\n");
  expect_invalid("[[fake.disturbance]]\nepisodes = [[5, 10, 0.5], [14, 1, 0.5]]\n");
  expect_invalid("[[fake.disturbance]]\nepisodes = [[0, 1, 0.5]]\nreplay = \"/dev/null\"\n");
  expect_invalid("[[fake.disturbance]]\nreplay = \"/dev/null\"\n");
  expect_invalid("[[fake.fault]]\nkind = \"slow\"\ncall = \"cuInit\"\nfactor = 3\n");
  expect_invalid("[[fake.link]]\nfrom = 0\nto = 1\n");
  expect_invalid("[[fake.link]]\nfrom = -3\nfactor = 1\n");
  expect_invalid("[[fake.fault]]\nkind = \"explode\"\ncall = \"cuInit\"\n");
  expect_invalid("[[fake.fault]]\nkind = \"hang\"\n");
  expect_invalid("[[fake.fault]]\nkind = \"hang\"\ncall = \"cuInit\"\nnth = 0\n");
  expect_invalid("[fake.fault]\nkind = \"hang\"\n");
}

TEST(episodes_begin_anew_each_period) {
  struct fake_config *config =
      load_text("h200x4.toml",
                "[[fake.disturbance]]\nfrom = \"host\"\nto = 1\nperiod = 100\n"
                "episodes = [[10, 5, 0.8], [20, 1.5, 0.5]]\n",
                STATUS_OK);
  static const struct {
    double at_ms, factor;
  } rows[] = {{0, 1}, {9.9, 1}, {10, 0.8}, {14.9, 0.8}, {15, 1}, {21, 0.5}, {21.6, 1}, {110, 0.8}};
  assert_int_equal(config->disturbance_count, 1);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    assert_true(fabs(episodes_factor(&config->disturbances[0], 1e6 * rows[i].at_ms) -
                     rows[i].factor) < 1e-9);
  }
  unload(config);
}

/* Each trial is slower than the quiet ones of its own case, which may have another size, by as much
 * as it was recorded. */
TEST(recorded_trials_are_replayed) {
  char csv[] = "/tmp/haul-trials-XXXXXX";
  const int file = mkstemp(csv);
  FILE *trials = fdopen(file, "w");
  assert_non_null(trials);
  (void)fputs("run,case_name,phase,iterations,elapsed_ns\n1,up/a,warmup,1,9000\n", trials);
  for (int i = 0; i < 40; i++) {
    (void)fprintf(trials, "1,up/a,measure,2,%d\n1,down/a,measure,1,7\n", i == 20 ? 2500 : 2000);
    (void)fprintf(trials, "1,up/b,measure,2,%d\n", i == 30 ? 400 : 200);
  }
  assert_int_equal(fclose(trials), 0);
  PRINTED(text, 256, "[[fake.disturbance]]\nreplay = \"%s\"\ncase = \"up/*\"\n", csv);
  struct fake_config *config = load_text("h200x4.toml", text, STATUS_OK);
  const struct fake_disturbance *disturbance = &config->disturbances[0];
  static const struct {
    double at_ns, factor;
  } rows[] = {{1, 1},     {2001, 1},  {43999, 1},   {44001, 0.8},
              {46501, 1}, {68499, 1}, {68501, 0.5}, {68901, 1}};
  assert_int_equal(disturbance->count, 80);
  assert_true(fabs(disturbance->period_ns - (40 * 2200 + 500 + 200)) < 1e-6);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    assert_true(fabs(episodes_factor(disturbance, rows[i].at_ns) - rows[i].factor) < 1e-9);
  }
  unload(config);
  assert_int_equal(unlink(csv), 0);
}

TEST(noise_is_of_its_way) {
  struct fake_config *config = load("h200x4.toml", NULL, STATUS_OK);
  struct links links;
  static const struct {
    int32_t from, to, of_from, of_to;
    bool go;
  } rows[] = {{PLACE_HOST, 1, PLACE_HOST, 1, true},
              {PLACE_HOST, 1, 1, PLACE_HOST, false},
              {PLACE_HOST, 1, PLACE_HOST, 0, false},
              {1, PLACE_HOST, PLACE_ANY, PLACE_HOST, true},
              {0, 2, 0, 2, true},
              {0, 2, 2, 0, false},
              {0, 2, 0, 0, false},
              {3, 3, 3, 3, true},
              {3, 3, 2, 2, false},
              {0, 2, PLACE_ANY, PLACE_ANY, true}};
  links_init(&links, config);
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    struct work work = {.bytes = 1000};
    links_add_transfer(&links, &work,
                       &(struct transfer){.from = rows[i].from, .to = rows[i].to, .bytes = 1000});
    assert_int_equal(links_go(&work, rows[i].of_from, rows[i].of_to), rows[i].go);
  }
  unload(config);
}

static double rate_alone(const struct links *links, struct transfer transfer) {
  struct work work = {.bytes = (double)transfer.bytes};
  const struct work *works[] = {&work};
  double rate;
  links_add_transfer(links, &work, &transfer);
  links_share(links, works, 1, &rate);
  return rate; /* bytes per ns = GB/s */
}

/* Without [fake], speeds follow from the machine; numbers as measured on such machines. */
TEST(speeds_come_from_the_machine) {
  struct fake_config *config = load("h100x8-nvlink.toml", NULL, STATUS_OK);
  struct links links;
  links_init(&links, config);
  double up = rate_alone(&links, (struct transfer){.from = PLACE_HOST, .to = 0, .bytes = 1000});
  double peer = rate_alone(&links, (struct transfer){.from = 3, .to = 7, .bytes = 1000});
  double local = rate_alone(&links, (struct transfer){.from = 2, .to = 2, .bytes = 1000});
  double pageable = rate_alone(
      &links, (struct transfer){.from = 2, .to = PLACE_HOST, .bytes = 1000, .pageable = true});
  assert_true(up > 54 && up < 56);
  assert_true(peer > 385 && peer < 400);
  assert_true(local > 1400 && local < 1500); /* bytes copied; twice as many move */
  assert_true(pageable > 16 && pageable < 17);
  /* By a thread that runs beside another GPU. */
  double remote = rate_alone(
      &links, (struct transfer){
                  .from = 2, .to = PLACE_HOST, .bytes = 1000, .pageable = true, .remote = true});
  assert_true(fabs(remote - pageable * config->remote_factor) < 1e-6);
  unload(config);
  config = load("l40sx4-pcie.toml", NULL, STATUS_OK);
  links_init(&links, config);
  peer = rate_alone(&links, (struct transfer){.from = 0, .to = 1, .bytes = 1000, .staged = true});
  up = rate_alone(&links, (struct transfer){.from = PLACE_HOST, .to = 0, .bytes = 1000});
  assert_true(up > 26 && up < 29 && peer > 15 && peer < up);
  unload(config);
}

/* All to one: seven sources share one GPU's port, and the eighth flow elsewhere is not slowed. */
TEST(ports_are_shared_fairly) {
  struct fake_config *config = load("h100x8-nvlink.toml", NULL, STATUS_OK);
  struct links links;
  links_init(&links, config);
  struct work works[8] = {0};
  const struct work *pointers[8];
  double rates[8];
  for (int32_t i = 0; i < 8; i++) {
    works[i].bytes = 1e6;
    pointers[i] = &works[i];
    struct transfer transfer = {.from = i < 7 ? i + 1 : 0, .to = i < 7 ? 0 : 1, .bytes = 1000000};
    links_add_transfer(&links, &works[i], &transfer);
  }
  double alone = rate_alone(&links, (struct transfer){.from = 1, .to = 0, .bytes = 1000});
  links_share(&links, pointers, 8, rates);
  for (int i = 0; i < 7; i++) {
    assert_true(rates[i] > alone / 7.01 && rates[i] < alone / 6.99);
  }
  assert_true(rates[7] > alone * 0.999);
  unload(config);
}

static struct machine found;
static struct machine wanted;

static void compare_facts(int32_t gpu) {
  for (uint32_t i = 0; i < wanted.fact_count; i++) {
    const struct fact *fact = &wanted.facts[i];
    bool ours = fact->gpu >= 0 || strcmp(fact->name, "driver_version") == 0 ||
                strcmp(fact->name, "cuda_driver_version") == 0;
    if (fact->gpu != gpu || !ours || strcmp(fact->name, "kernel_code") == 0) { /* the build's */
      continue;
    }
    const struct fact *answer = machine_fact(&found, fact->name, gpu);
    if (answer == NULL || answer->state != fact->state ||
        (fact->state == FACT_OK && strcmp(answer->value, fact->value) != 0)) {
      (void)fprintf(stderr, "fact %s of GPU %d: %s\n", fact->name, gpu,
                    answer == NULL ? "absent" : answer->value);
      FAIL("facts differ");
    }
  }
}

static void compare_gpu(uint32_t i) {
  const struct gpu *a = &found.gpus[i];
  const struct gpu *b = &wanted.gpus[i];
  CHECK(strcmp(a->name, b->name) == 0);
  CHECK(strcmp(a->uuid, b->uuid) == 0);
  CHECK(strcmp(a->pci_address, b->pci_address) == 0);
  CHECK(a->numa_node == b->numa_node && a->cuda_ordinal == b->cuda_ordinal);
  CHECK(a->compute_major == b->compute_major && a->sm_count == b->sm_count);
  CHECK(a->copy_engine_count == b->copy_engine_count && a->l2_bytes == b->l2_bytes);
  CHECK(a->memory_bytes == b->memory_bytes && a->memory_bus_bits == b->memory_bus_bits);
  CHECK(a->memory_clock_khz == b->memory_clock_khz && a->pcie_width_max == b->pcie_width_max);
  CHECK(a->pcie_generation == b->pcie_generation && a->nvlink_count == b->nvlink_count);
  CHECK(a->nvlink_bytes_per_second == b->nvlink_bytes_per_second);
  CHECK(a->c2c_bytes_per_second == b->c2c_bytes_per_second);
  CHECK(a->memory_node == b->memory_node);
  CHECK(a->process_count == b->process_count && a->host_page_tables == b->host_page_tables);
  for (uint32_t to = 0; to < wanted.gpu_count; to++) {
    CHECK(found.links[i][to].peer_access == wanted.links[i][to].peer_access);
    CHECK(found.links[i][to].nvlink_count == wanted.links[i][to].nvlink_count);
    CHECK(found.links[i][to].bytes_per_second == wanted.links[i][to].bytes_per_second);
  }
  compare_facts((int32_t)i);
}

static void machine_is_found(const struct cuda_driver *none) {
  struct error error = {0};
  if (machine_file_load(getenv("HAUL_FAKE_MACHINE"), &wanted, &error) != STATUS_OK ||
      machine_probe(&found, &error) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", error.message);
    FAIL("cannot read or probe the machine");
  }
  CHECK(found.simulated && strcmp(found.cuda_state, "ok") == 0);
  CHECK(found.gpu_count == wanted.gpu_count && found.node_count == wanted.node_count);
  CHECK(found.driver_cuda_version == wanted.driver_cuda_version);
  for (uint32_t i = 0; i < wanted.node_count; i++) {
    CHECK(found.nodes[i].number == wanted.nodes[i].number);
    CHECK(found.node_distance[0][i] == wanted.node_distance[0][i]);
  }
  compare_facts(-1);
  for (uint32_t i = 0; i < wanted.gpu_count; i++) {
    compare_gpu(i);
  }
}

IN_CHILD_UNLOADED(version_is_overridden, "h200x4.toml",
                  "[fake]\ndriver_version = \"590.44.01\"\n") {
  struct error error = {0};
  CHECK(machine_probe(&found, &error) == STATUS_OK);
  CHECK(strcmp(machine_fact(&found, "driver_version", -1)->value, "590.44.01") == 0);
}

IN_CHILD_UNLOADED(nvml_needs_its_init, "h100x8-nvlink.toml", "[fake]\nthrottle_reasons = 4\n") {
  struct nvml nvml;
  struct error error = {0};
  CHECK(nvml_load(&nvml, &error) == STATUS_OK);
  struct nvml_device *device = probe_nvml_device(&nvml, "0000:1b:00.0");
  CHECK(device != NULL && probe_nvml_device(&nvml, "0000:ff:00.0") == NULL);
  unsigned value;
  unsigned long long reasons;
  CHECK(nvml.nvmlDeviceGetTemperature(device, NVML_SENSOR_OF_GPU, &value) == NVML_OK);
  CHECK(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == NVML_OK);
  CHECK(reasons == NVML_THROTTLE_SW_POWER_CAP);
  CHECK(nvml.nvmlDeviceGetHandleByIndex_v2(8, &device) == NVML_INVALID_ARGUMENT);
  struct nvml copy = nvml;
  nvml_unload(&nvml);
  CHECK(copy.nvmlDeviceGetTemperature(device, NVML_SENSOR_OF_GPU, &value) == NVML_UNINITIALIZED);
}

TEST(machines_are_found) {
  static const char *const MACHINES[] = {"h100x8-nvlink.toml", "l40sx4-pcie.toml", "gh200.toml",
                                         "gb200x4.toml", "h200x4.toml"};
  for (size_t i = 0; i < COUNT_OF(MACHINES); i++) {
    child_test_run(&(struct child_test){machine_is_found, MACHINES[i], NULL, false, 0});
  }
}
