/* What nvbandwidth printed is read, JSON and text of every version, and what is wrong with it is
 * said. */
#include "runner/import/nvbandwidth.h"

#include "tests/cmocka.h"

#include <math.h>

static enum status parse(const char *text, struct arena *arena, struct nvbandwidth_file *file,
                         struct error *err) {
  return nvbandwidth_parse(text, strlen(text), "nvb.json", arena, file, err);
}

TEST(real_file_of_0_8_is_read) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_ok(nvbandwidth_read(HAUL_SOURCE_DIR "/tests/data/nvbandwidth-0.8-4xH200.json", &arena,
                             &file, err),
            err);
  assert_int_equal(file.version, 8);
  assert_string_equal(file.driver_version, "580.159.04");
  assert_int_equal(file.cuda_runtime_version, 13000);
  assert_string_equal(file.host_name, "vm");
  assert_int_equal(file.device_count, 4);
  assert_string_equal(file.devices[0].name, "NVIDIA H200");
  assert_string_equal(file.devices[3].pci_address, "0000:00:09.0");
  assert_int_equal(file.test_count, 35);
  const struct nvbandwidth_test *test = &file.tests[0];
  assert_string_equal(test->name, "host_to_device_memcpy_ce");
  assert_string_equal(test->status, "Passed");
  assert_int_equal(test->rows, 1);
  assert_int_equal(test->columns, 4);
  assert_true(test->cells[0] == 54.6771);
  /* Each direction, then their sums. */
  assert_string_equal(file.tests[6].name, "device_to_device_bidirectional_memcpy_read_ce");
  assert_int_equal(file.tests[6].rows, 12);
  assert_true(isnan(file.tests[6].cells[0]));
}

/* 0.5 names no devices; 0.6 and 0.7 name no host. */
TEST(older_files_are_read) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_ok(parse("{\"nvbandwidth\": {\"version\": \"v0.5\", \"git_version\": \"v0.5\", "
                  "\"CUDA Runtime Version\": 12040, \"Driver Version\": \"550.54.14\", "
                  "\"testcases\": [{\"name\": \"device_local_copy\", \"status\": \"Passed\", "
                  "\"bandwidth_matrix\": [[\"1000.5\", \"N/A\"]], \"sum\": 1000.5}, "
                  "{\"name\": \"all_to_one_write_ce\", \"status\": \"Waived\"}]}}",
                  &arena, &file, err),
            err);
  assert_int_equal(file.version, 5);
  assert_int_equal(file.device_count, 0);
  assert_null(file.host_name);
  assert_int_equal(file.tests[0].columns, 2);
  assert_true(isnan(file.tests[0].cells[1]));
  assert_int_equal(file.tests[1].rows, 0);
  assert_string_equal(file.tests[1].status, "Waived");
  assert_ok(parse("{\"nvbandwidth\": {\"version\": \"v0.7\", \"GPU Device list\": [\"0: NVIDIA "
                  "GH200 480GB (00000009:01:00)\"], \"testcases\": []}}",
                  &arena, &file, err),
            err);
  assert_string_equal(file.devices[0].name, "NVIDIA GH200 480GB");
  assert_string_equal(file.devices[0].pci_address, "0009:01:00.0");
  assert_null(file.host_name);
  assert_null(file.driver_version);
}

TEST(mistakes_are_reported) {
  static const struct {
    const char *text;
    enum status status;
    const char *said;
  } MISTAKES[] = {
      {"[]", STATUS_INVALID, "no object \"nvbandwidth\""},
      {"{\"nvbandwidth\": 3}", STATUS_INVALID, "no object \"nvbandwidth\""},
      {"{\"nvbandwidth\": {}}", STATUS_INVALID, "no \"version\""},
      {"{\"nvbandwidth\": {\"version\": \"best\"}}", STATUS_INVALID, "\"best\""},
      {"{\"nvbandwidth\": {\"version\": \"v0.4\"}}", STATUS_UNSUPPORTED, "0.5 to 0.10"},
      {"{\"nvbandwidth\": {\"version\": \"v0.11\"}}", STATUS_UNSUPPORTED, "nvbandwidth 0.11"},
      {"nvbandwidth Version: v0.4\n", STATUS_UNSUPPORTED, "nvbandwidth 0.4"},
      {"Running host_to_device_memcpy_ce.\n", STATUS_INVALID, "with a line \"nvbandwidth Version"},
      {"{\"nvbandwidth\": {\"version\": \"v1.8\"}}", STATUS_UNSUPPORTED, "nvbandwidth 1.8"},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"error\": \"no devices\"}}", STATUS_INVALID,
       "nvbandwidth ended with: no devices"},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"GPU Device list\": [\"H200\"]}}",
       STATUS_INVALID, "\"GPU Device list\"[0] is \"H200\""},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"testcases\": [{}]}}", STATUS_INVALID,
       "\"testcases\"[0] has no \"name\""},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"testcases\": [{\"name\": \"x\", "
       "\"bandwidth_matrix\": 1}]}}",
       STATUS_INVALID, "test x: \"bandwidth_matrix\" is no list of rows"},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"testcases\": [{\"name\": \"x\", "
       "\"bandwidth_matrix\": [[\"1\"], [\"1\", \"2\"]]}]}}",
       STATUS_INVALID, "row 1 of \"bandwidth_matrix\" has 2 cells, the first has 1"},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"testcases\": [{\"name\": \"x\", "
       "\"bandwidth_matrix\": [[\"1\", \"fast\"]]}]}}",
       STATUS_INVALID, "row 0, column 1"},
      {"{\"nvbandwidth\": {\"version\": \"v0.8\", \"testcases\": [{\"name\": \"x\", "
       "\"bandwidth_matrix\": [[\"inf\"]]}]}}",
       STATUS_INVALID, "row 0, column 0"},
  };
  for (size_t i = 0; i < COUNT_OF(MISTAKES); i++) {
    SCOPED(arena_fini) struct arena arena = {0};
    struct nvbandwidth_file file;
    enum status status = parse(MISTAKES[i].text, &arena, &file, err);
    if (status != MISTAKES[i].status || strstr(err->message, MISTAKES[i].said) == NULL ||
        strstr(err->message, "nvb.json") == NULL) {
      fail_msg("%s\n  gives %d: %s", MISTAKES[i].text, (int)status, err->message);
    }
  }
}

TEST(broken_json_has_a_position) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_int_equal(parse("{\n  \"nvbandwidth\": {\n    \"version\" \"v0.8\"\n", &arena, &file, err),
                   STATUS_INVALID);
  assert_string_equal(err->position.file, "nvb.json");
  assert_int_equal(err->position.line, 3);
  assert_true(err->position.column > 1);
  assert_contains(err->message, "no valid JSON");
  /* A file cut short at any byte. */
  static const char WHOLE[] =
      "{\"nvbandwidth\": {\"version\": \"v0.8\", \"GPU Device list\": [\"0: H (00000000:06:00): "
      "(h)\"], \"testcases\": [{\"name\": \"x\", \"bandwidth_matrix\": [[\"1\", \"N/A\"]]}]}}";
  for (size_t length = 0; length < sizeof WHOLE - 1; length++) {
    assert_int_equal(nvbandwidth_parse(WHOLE, length, "nvb.json", &arena, &file, err),
                     STATUS_INVALID);
  }
  assert_ok(nvbandwidth_parse(WHOLE, sizeof WHOLE - 1, "nvb.json", &arena, &file, err), err);
}

static const struct nvbandwidth_test *test_of(const struct nvbandwidth_file *file,
                                              const char *name) {
  for (size_t i = 0; i < file->test_count; i++) {
    if (strcmp(file->tests[i].name, name) == 0) {
      return &file->tests[i];
    }
  }
  fail_msg("no test %s", name);
  return NULL;
}

/* A test's matrices as 0.8 prints them: the JSON has the rows of all in one. */
static void print_test(FILE *out, const struct nvbandwidth_test *test, size_t rows_each) {
  (void)fprintf(out, "Running %s.\n", test->name);
  for (size_t row = 0; row < test->rows; row++) {
    if (row % rows_each == 0) {
      (void)fprintf(out, "memcpy CE GPU(row) <-> GPU(column) bandwidth (GB/s)\n  ");
      for (size_t column = 0; column < test->columns; column++) {
        (void)fprintf(out, "%10zu", column);
      }
    }
    (void)fprintf(out, "\n%2zu", row % rows_each);
    for (size_t column = 0; column < test->columns; column++) {
      const double cell = test->cells[row * test->columns + column];
      if (isnan(cell)) {
        (void)fprintf(out, "%10s", "N/A");
      } else {
        (void)fprintf(out, "%10.2f", cell);
      }
    }
    if ((row + 1) % rows_each == 0) {
      (void)fprintf(out, "\n\nSUM %s 1.00\n\n", test->name);
    }
  }
}

TEST(text_gives_what_the_json_gives) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file json;
  struct nvbandwidth_file file;
  assert_ok(nvbandwidth_read(HAUL_SOURCE_DIR "/tests/data/nvbandwidth-0.8-4xH200.json", &arena,
                             &json, err),
            err);
  CAPTURE(out);
  (void)fprintf(out.stream, "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\n"
                            "CUDA Runtime Version: 13000\nCUDA Driver Version: 13000\n"
                            "Driver Version: 580.159.04\n\nvm\n");
  for (unsigned i = 0; i < 4; i++) {
    (void)fprintf(out.stream, "Device %u: NVIDIA H200 (00000000:00:%02x)\n", i, 6 + i);
  }
  (void)fprintf(out.stream, "\n");
  for (size_t i = 0; i < json.test_count; i++) {
    print_test(out.stream, &json.tests[i], json.tests[i].rows == 1 ? 1 : 4);
  }
  (void)fprintf(out.stream, "NOTE: The reported results may not reflect the full capabilities.\n");
  assert_ok(parse(capture_text(&out), &arena, &file, err), err);
  assert_true(file.rounded);
  assert_false(json.rounded);
  assert_int_equal(file.version, json.version);
  assert_int_equal(file.cuda_runtime_version, json.cuda_runtime_version);
  assert_string_equal(file.driver_version, json.driver_version);
  assert_string_equal(file.host_name, json.host_name);
  assert_int_equal(file.device_count, json.device_count);
  for (size_t i = 0; i < json.device_count; i++) {
    assert_string_equal(file.devices[i].name, json.devices[i].name);
    assert_string_equal(file.devices[i].pci_address, json.devices[i].pci_address);
  }
  assert_int_equal(file.test_count, json.test_count);
  for (size_t i = 0; i < json.test_count; i++) {
    const struct nvbandwidth_test *want = &json.tests[i];
    const struct nvbandwidth_test *test = &file.tests[i];
    assert_string_equal(test->name, want->name);
    assert_string_equal(test->status, "Passed");
    assert_int_equal(test->rows, want->rows);
    assert_int_equal(test->columns, want->columns);
    for (size_t k = 0; k < want->rows * want->columns; k++) {
      assert_true(isnan(want->cells[k]) ? isnan(test->cells[k])
                                        : fabs(test->cells[k] - want->cells[k]) < 0.0051);
    }
  }
}

/* As the README of 0.2 shows it, between its own lines. */
#define TEXT_0_2                                                                                   \
  "Example output:\n```\nRunning device_to_device_memcpy_write_ce.\n"                              \
  "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n          0         1\n"                    \
  "0      0.00    276.07\n1    276.19      0.00\n```\n\nSet number of iterations\n```\n"           \
  "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"        \
  "          0         1\n0     26.03     25.94\n```\n"

TEST(text_without_a_version_is_of_0_2) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_ok(parse(TEXT_0_2, &arena, &file, err), err);
  assert_int_equal(file.version, 2);
  assert_int_equal(file.test_count, 2);
  const struct nvbandwidth_test *pairs = test_of(&file, "device_to_device_memcpy_write_ce");
  assert_int_equal(pairs->rows, 2);
  assert_true(isnan(pairs->cells[0]) && isnan(pairs->cells[3]));
  assert_float_equal(pairs->cells[2], 276.19, 1e-9);
  assert_int_equal(test_of(&file, "host_to_device_memcpy_ce")->rows, 1);
  /* Of two GPUs, a row is missing: it is no matrix, and the text nothing that is known. */
  static const char SHORT[] = "Running device_to_device_memcpy_write_ce.\n          0         1\n"
                              "0      0.00    276.07\n";
  assert_int_equal(parse(SHORT, &arena, &file, err), STATUS_INVALID);
}

/* 0.5 has no addresses; tests that do not apply are "Waived:" without a name. */
#define TEXT_0_5                                                                                   \
  "nvbandwidth Version: v0.5\r\nBuilt from Git version: v0.5\r\n\r\nNOTE: This tool "              \
  "reports\r\n\r\n"                                                                                \
  "CUDA Runtime Version: 12040\r\nDriver Version: 550.54.14\r\n\r\nDevice 0: NVIDIA L40S\r\n\r\n"  \
  "Running host_to_device_memcpy_ce.\r\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\r\n"    \
  "          0\r\n0     25.10\r\n\r\nSUM host_to_device_memcpy_ce 25.10\r\n\r\nWaived: "           \
  "\r\nWaived: \r\n"
/* 0.10 counts the release, writes CUDA's version twice, prints what a test's runs differ by, and
 * says why a test does not apply. */
#define TEXT_0_10                                                                                  \
  "$ ./nvbandwidth\nnvbandwidth Version: v0.10.0\nBuilt from Git version: v0.10\n\n"               \
  "CUDA Runtime Version: 13.3 (13030)\nCUDA Driver Version (API): 13.3 (13030)\n"                  \
  "Driver Version: 610.57.04\n\nRunning device_to_device_bidirectional_memcpy_read_ce.\n"          \
  "memcpy CE GPU(row) <-> GPU(column) Read1 bandwidth (GB/s)\n           0         1\n"            \
  " 0       N/A    760.10\n 1    760.20       N/A\n\n"                                             \
  "SUM device_to_device_bidirectional_memcpy_read_ce_read1 1520.30\n\n"                            \
  "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n           0         1\n"            \
  " 0       N/A   1521.22\n 1   1521.36       N/A\n\n"                                             \
  "SUM device_to_device_bidirectional_memcpy_read_ce_total 3042.58\n"                              \
  "COEFFICIENT_OF_VARIATION device_to_device_bidirectional_memcpy_read_ce_total 0.00\n\n"          \
  "Running device_local_copy_tma.\nmemcpy TMA GPU(row) bandwidth (GB/s)\n           0         1\n" \
  " 0   3100.00   3101.00\n\n&&&& PERF device_local_copy_tma 6201.00+GB/s\n\n"                     \
  "Running device_to_device_memcpy_read_tma.\nWaived: needs compute capability 9.0\n"              \
  "Testcase device_to_device_latency_tma WAIVED: no peers\n"                                       \
  "Running device_to_host_memcpy_ce.\nError: out of memory\n"                                      \
  "Running device_local_copy.\n[CUDA_ERROR_ILLEGAL_ADDRESS] an illegal memory access\n"            \
  "Running all_to_one_write_ce.\nmemcpy CE All Gpus -> GPU(column) total bandwidth (GB/s)\n"       \
  "           0         1\n 0    393.00    394.00\n"

TEST(text_of_other_versions_is_read) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_ok(parse(TEXT_0_5, &arena, &file, err), err);
  assert_int_equal(file.version, 5);
  assert_int_equal(file.cuda_runtime_version, 12040);
  assert_string_equal(file.devices[0].name, "NVIDIA L40S");
  assert_null(file.devices[0].pci_address);
  assert_null(file.host_name);
  assert_int_equal(file.test_count, 3);
  assert_true(file.tests[0].cells[0] == 25.10);
  assert_string_equal(file.tests[2].status, "Waived");
  assert_null(file.tests[2].detail);

  assert_ok(parse(TEXT_0_10, &arena, &file, err), err);
  assert_int_equal(file.version, 10);
  assert_int_equal(file.cuda_runtime_version, 13030);
  assert_string_equal(file.driver_version, "610.57.04");
  assert_int_equal(file.device_count, 0);
  assert_int_equal(file.test_count, 7);
  const struct nvbandwidth_test *test =
      test_of(&file, "device_to_device_bidirectional_memcpy_read_ce");
  assert_int_equal(test->rows, 4);
  assert_true(test->cells[1] == 760.10);
  assert_true(test->cells[6] == 1521.36);
  assert_true(test_of(&file, "device_local_copy_tma")->cells[1] == 3101);
  static const struct {
    const char *name, *status, *detail;
  } WITHOUT_NUMBERS[] = {
      {"device_to_device_memcpy_read_tma", "Waived", "needs compute capability 9.0"},
      {"device_to_device_latency_tma", "Waived", "no peers"},
      {"device_to_host_memcpy_ce", "Error", "out of memory"},
      {"device_local_copy", "Running", "[CUDA_ERROR_ILLEGAL_ADDRESS] an illegal memory access"},
      {"all_to_one_write_ce", "cut short", NULL},
  };
  for (size_t i = 0; i < COUNT_OF(WITHOUT_NUMBERS); i++) {
    test = test_of(&file, WITHOUT_NUMBERS[i].name);
    assert_int_equal(test->rows, 0);
    assert_string_equal(test->status, WITHOUT_NUMBERS[i].status);
    if (WITHOUT_NUMBERS[i].detail == NULL) {
      assert_null(test->detail);
    } else {
      assert_string_equal(test->detail, WITHOUT_NUMBERS[i].detail);
    }
  }
  /* Cut short at any byte, a matrix is whole or left out. */
  for (size_t length = 0; length < sizeof TEXT_0_10 - 1; length++) {
    if (nvbandwidth_parse(TEXT_0_10, length, "nvb.txt", &arena, &file, err) != STATUS_OK) {
      continue;
    }
    for (size_t i = 0; i < file.test_count; i++) {
      test = &file.tests[i];
      assert_true(test->rows == 0 || strcmp(test->status, "Passed") == 0);
      assert_true(test->rows == 0 || test->columns == 2);
    }
  }
}

TEST(unreadable_file_is_an_error) {
  SCOPED(arena_fini) struct arena arena = {0};
  struct nvbandwidth_file file;
  assert_int_equal(nvbandwidth_read("/nowhere/nvb.json", &arena, &file, err), STATUS_NOT_FOUND);
  assert_int_equal(nvbandwidth_read("/tmp", &arena, &file, err), STATUS_INVALID);
  assert_int_equal(nvbandwidth_read("/dev/null", &arena, &file, err), STATUS_INVALID);
}
