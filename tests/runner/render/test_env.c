/* A machine as people and programs see it. */
#include "runner/render/env.h"
#include "schema/machine/machine_file.h"
#include "tests/cmocka.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const char *const SHIPPED[] = {"h100x8-nvlink.toml", "l40sx4-pcie.toml", "gh200.toml",
                                      "gb200x4.toml",       "h200x4.toml",      "no-gpu.toml"};

static struct machine *load(const char *name) {
  char path[512];
  struct error err = {0};
  struct machine *machine = malloc(sizeof *machine);
  assert_non_null(machine);
  (void)snprintf(path, sizeof path, "%s/tests/machines/%s", HAUL_SOURCE_DIR, name);
  assert_int_equal(machine_file_load(path, machine, &err), STATUS_OK);
  return machine;
}

static char *print(const struct machine *machine, unsigned width, bool colour) {
  char *text = NULL;
  size_t length = 0;
  struct error err = {0};
  FILE *stream = open_memstream(&text, &length);
  assert_non_null(stream);
  const struct table_options options = {.stream = stream, .width = width, .colour = colour};
  assert_int_equal(env_print(machine, &options, &err), STATUS_OK);
  assert_int_equal(fclose(stream), 0);
  return text;
}

static json_t *print_json(const struct machine *machine) {
  char *text = NULL;
  size_t length = 0;
  struct error err = {0};
  FILE *stream = open_memstream(&text, &length);
  assert_non_null(stream);
  assert_int_equal(env_print_json(machine, stream, &err), STATUS_OK);
  assert_int_equal(fclose(stream), 0);
  json_error_t problem;
  json_t *root = json_loadb(text, length, 0, &problem);
  assert_non_null(root);
  free(text);
  return root;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) {
    fail_msg("no \"%s\" in:\n%s", part, text);
  }
}

static size_t longest_line(const char *text) {
  size_t longest = 0;
  while (*text != '\0') {
    size_t length = strcspn(text, "\n");
    longest = length > longest ? length : longest;
    text += length + (text[length] == '\n' ? 1 : 0);
  }
  return longest;
}

static void test_fits_eighty_columns(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof SHIPPED / sizeof SHIPPED[0]; i++) {
    struct machine *machine = load(SHIPPED[i]);
    char *text = print(machine, 80, false);
    if (longest_line(text) > 80) {
      fail_msg("%s needs %zu columns:\n%s", SHIPPED[i], longest_line(text), text);
    }
    assert_null(strchr(text, '\033'));
    free(text);
    free(machine);
  }
}

static void test_what_is_shown(void **state) {
  (void)state;
  struct machine *machine = load("h100x8-nvlink.toml");
  machine->simulated = true;
  char *text = print(machine, 100, false);
  assert_has(text, "NVIDIA driver 580.95.05 (open kernel module), CUDA 13.0");
  assert_has(text, "  7  H100 80GB HBM3     1  79.2 GiB  3352.32  PCIe 5 x16  63.015  18 x 26.6");
  assert_has(text, "NV18: 18 NVLinks, 478.1 GB/s each way");
  assert_has(text, "   1         112  1008 GiB  998 GiB  4-7   21 10");
  assert_has(text, "power_limit           700000 mW");
  assert_has(text, "SIMULATED");
  free(text);
  free(machine);
  machine = load("l40sx4-pcie.toml");
  text = print(machine, 100, false);
  assert_has(text, "host: no peer access, copies go through host memory, at most 31.5 GB/s");
  assert_has(text, "PCIe at 1 x16 when looked at");
  free(text);
  free(machine);
}

static void test_denied_and_unavailable_differ(void **state) {
  (void)state;
  struct machine *machine = load("no-gpu.toml");
  char *text = print(machine, 100, true);
  assert_has(text, "\033[31mdenied: /proc/cmdline: Permission denied\033[0m");
  assert_has(text, "\033[2munavailable: there is no CUDA driver\033[0m");
  assert_has(text, "No GPU to use: no NVIDIA driver");
  assert_null(strstr(text, "GPU to GPU"));
  free(text);
  json_t *root = print_json(machine);
  json_t *fact = json_object_get(json_object_get(root, "facts"), "kernel_command_line");
  assert_string_equal(json_string_value(json_object_get(fact, "state")), "denied");
  assert_string_equal(json_string_value(json_object_get(fact, "reason")),
                      "/proc/cmdline: Permission denied");
  assert_true(json_is_null(json_object_get(root, "driver_cuda_version")));
  json_decref(root);
  free(machine);
}

/* GPUs that differ are named; control characters are shown and not obeyed. */
static void test_differing_gpus_and_odd_text(void **state) {
  (void)state;
  struct machine *machine = load("h200x4.toml");
  for (uint32_t i = 0; i < machine->fact_count; i++) {
    struct fact *fact = &machine->facts[i];
    if (fact->gpu >= 2 && strcmp(fact->name, "ecc") == 0) {
      (void)snprintf(fact->value, sizeof fact->value, "off");
    }
  }
  (void)snprintf(machine->host_name, sizeof machine->host_name, "evil\033[2J");
  char *text = print(machine, 100, false);
  assert_has(text, "ecc                   gpu 0,1: on");
  assert_has(text, "ecc                   gpu 2,3: off");
  assert_has(text, "evil\\u001b[2J: ");
  free(text);
  free(machine);
}

static void test_json(void **state) {
  (void)state;
  struct machine *machine = load("gh200.toml");
  json_t *root = print_json(machine);
  json_t *gpu = json_array_get(json_object_get(root, "gpus"), 0);
  assert_int_equal(json_integer_value(json_object_get(gpu, "host_peak_bytes_per_second")),
                   447120000000);
  assert_string_equal(json_string_value(json_object_get(gpu, "host_link")), "c2c");
  assert_int_equal(json_integer_value(json_object_get(gpu, "memory_bytes")), 102005473280);
  assert_true(json_is_null(json_object_get(gpu, "nvlink_count")));
  assert_true(json_is_true(json_object_get(gpu, "host_page_tables")));
  json_t *node = json_array_get(json_object_get(root, "numa_nodes"), 1);
  assert_int_equal(json_integer_value(json_object_get(node, "cpu_count")), 0);
  assert_int_equal(json_integer_value(json_array_get(json_object_get(node, "distance"), 0)), 80);
  assert_int_equal(json_array_size(json_object_get(root, "links")), 0);
  json_decref(root);
  free(machine);
  machine = load("h100x8-nvlink.toml");
  root = print_json(machine);
  assert_int_equal(json_array_size(json_object_get(root, "links")), 56);
  json_decref(root);
  free(machine);
}

static void test_full_disk(void **state) {
  (void)state;
  struct machine *machine = load("gh200.toml");
  struct error err = {0};
  FILE *stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  const struct table_options options = {.stream = stream, .width = 80};
  assert_int_equal(env_print(machine, &options, &err), STATUS_IO);
  assert_string_not_equal(err.message, "");
  (void)fclose(stream);
  stream = fopen("/dev/full", "w");
  assert_non_null(stream);
  assert_int_equal(env_print_json(machine, stream, &err), STATUS_IO);
  (void)fclose(stream);
  free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fits_eighty_columns),
      cmocka_unit_test(test_what_is_shown),
      cmocka_unit_test(test_denied_and_unavailable_differ),
      cmocka_unit_test(test_differing_gpus_and_odd_text),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_full_disk),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
