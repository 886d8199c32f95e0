/* The whole probe, on machines that the fake driver plays: it sees what the machine file says.
 *
 * The environment of the test leads the loader to the fake libraries; each machine is looked at in
 * a process of its own, since a driver stays what it was first told to be. */
#include "engine/machine/machine.h"
#include "engine/machine/telemetry.h"
#include "schema/machine/machine_file.h"
#include "tests/cmocka.h"

#include <sys/wait.h>
#include <unistd.h>

static struct machine *played; /* what the file says */
static struct machine *seen;   /* what the probe says */

static char *text_of(const struct machine *machine) {
  struct error err = {0};
  CAPTURE(out);
  assert_ok(machine_file_save(out.stream, machine, &err), &err);
  return capture_take(&out);
}

/* All but what is of the host that runs the test: its name, its facts, its free memory. */
static bool hardware_differs(void) {
  SCOPED(memory_free) struct machine *copy = malloc(sizeof *copy);
  if (copy == NULL) {
    abort();
  }
  *copy = *seen;
  copy->simulated = played->simulated;
  memcpy(copy->host_name, played->host_name, sizeof copy->host_name);
  memcpy(copy->facts, played->facts, sizeof copy->facts);
  copy->fact_count = played->fact_count;
  for (uint32_t i = 0; i < copy->node_count; i++) {
    copy->nodes[i].free_memory_bytes = played->nodes[i].free_memory_bytes;
  }
  SCOPED(memory_free) char *expected = text_of(played);
  SCOPED(memory_free) char *found = text_of(copy);
  bool differs = strcmp(expected, found) != 0;
  if (differs) {
    (void)fprintf(stderr, "expected:\n%s\nfound:\n%s\n", expected, found);
  }
  return differs;
}

static bool gpu_facts_differ(void) {
  bool any = false;
  for (uint32_t i = 0; i < played->fact_count; i++) {
    const struct fact *expected = &played->facts[i];
    const struct fact *found = machine_fact(seen, expected->name, expected->gpu);
    if (expected->gpu < 0 || strcmp(expected->name, "kernel_code") == 0) {
      continue; /* of the host that runs the test, and of this build */
    }
    if (found == NULL || found->state != expected->state ||
        (found->state == FACT_OK && strcmp(found->value, expected->value) != 0)) {
      (void)fprintf(stderr, "gpu %d: %s is %s, expected %s\n", expected->gpu, expected->name,
                    found == NULL ? "missing" : found->value, expected->value);
      any = true;
    }
  }
  return any;
}

/* Sampling works on what was probed, and says what the fake NVML says of every GPU. */
static bool telemetry_fails(void) {
  struct telemetry *telemetry = NULL;
  struct telemetry_sample sample;
  struct error err = {0};
  if (telemetry_new(seen, &telemetry, &err) != STATUS_OK) {
    (void)fprintf(stderr, "telemetry: %s\n", err.message);
    return true;
  }
  bool any = telemetry_read(telemetry, seen->gpu_count, &sample);
  for (uint32_t i = 0; i < seen->gpu_count; i++) {
    any = any || !telemetry_read(telemetry, i, &sample) || sample.gpu != (int32_t)i ||
          sample.time_ns == 0 || sample.pcie_width != seen->gpus[i].pcie_width;
  }
  telemetry_free(telemetry);
  return any;
}

/* Runs in the child. */
static bool probe_fails(const char *path) {
  struct error err = {0};
  played = calloc(1, sizeof *played);
  seen = calloc(1, sizeof *seen);
  if (played == NULL || seen == NULL || setenv("HAUL_FAKE_MACHINE", path, 1) != 0 ||
      machine_file_load(path, played, &err) != STATUS_OK ||
      machine_probe(seen, &err) != STATUS_OK) {
    (void)fprintf(stderr, "%s: %s\n", path, err.message);
    return true;
  }
  const struct fact *driver = machine_fact(seen, "driver_version", -1);
  bool any = !seen->simulated || strcmp(seen->cuda_state, "ok") != 0 ||
             strcmp(driver->value, machine_fact(played, "driver_version", -1)->value) != 0;
  any = hardware_differs() || any;
  any = gpu_facts_differ() || any;
  return telemetry_fails() || any;
}

static void assert_seen(const char *name) {
  int outcome = 0;
  PRINTED(path, 512, "%s/tests/machines/%s", HAUL_SOURCE_DIR, name);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    _exit(probe_fails(path) ? 1 : 0);
  }
  assert_int_equal(waitpid(child, &outcome, 0), child);
  assert_int_equal(outcome, 0);
}

TEST(test_h100x8) {
  assert_seen("h100x8-nvlink.toml");
}

TEST(test_l40sx4) {
  assert_seen("l40sx4-pcie.toml");
}

TEST(test_gh200) {
  assert_seen("gh200.toml");
}

TEST(test_gb200x4) {
  assert_seen("gb200x4.toml");
}

TEST(test_h200x4) {
  assert_seen("h200x4.toml");
}
