/* What nvbandwidth printed is read, of every version, and what is wrong with it is said. */
#include "runner/import/nvbandwidth.h"

#include "tests/cmocka.h"

#include <math.h>
#include <string.h>

static enum status parse(const char *text, struct arena *arena, struct nvbandwidth_file *file,
                         struct error *err) {
  return nvbandwidth_parse(text, strlen(text), "nvb.json", arena, file, err);
}

static void real_file_of_0_8_is_read(void **state) {
  (void)state;
  struct arena arena = {0};
  struct nvbandwidth_file file;
  struct error err = {0};
  if (nvbandwidth_read(HAUL_SOURCE_DIR "/tests/data/nvbandwidth-0.8-4xH200.json", &arena, &file,
                       &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
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
  arena_fini(&arena);
}

/* 0.5 names no devices; 0.6 and 0.7 name no host. */
static void older_files_are_read(void **state) {
  (void)state;
  struct arena arena = {0};
  struct nvbandwidth_file file;
  struct error err = {0};
  assert_int_equal(
      parse("{\"nvbandwidth\": {\"version\": \"v0.5\", \"git_version\": \"v0.5\", "
            "\"CUDA Runtime Version\": 12040, \"Driver Version\": \"550.54.14\", "
            "\"testcases\": [{\"name\": \"device_local_copy\", \"status\": \"Passed\", "
            "\"bandwidth_matrix\": [[\"1000.5\", \"N/A\"]], \"sum\": 1000.5}, "
            "{\"name\": \"all_to_one_write_ce\", \"status\": \"Waived\"}]}}",
            &arena, &file, &err),
      STATUS_OK);
  assert_int_equal(file.version, 5);
  assert_int_equal(file.device_count, 0);
  assert_null(file.host_name);
  assert_int_equal(file.tests[0].columns, 2);
  assert_true(isnan(file.tests[0].cells[1]));
  assert_int_equal(file.tests[1].rows, 0);
  assert_string_equal(file.tests[1].status, "Waived");
  assert_int_equal(
      parse("{\"nvbandwidth\": {\"version\": \"v0.7\", \"GPU Device list\": [\"0: NVIDIA "
            "GH200 480GB (00000009:01:00)\"], \"testcases\": []}}",
            &arena, &file, &err),
      STATUS_OK);
  assert_string_equal(file.devices[0].name, "NVIDIA GH200 480GB");
  assert_string_equal(file.devices[0].pci_address, "0009:01:00.0");
  assert_null(file.host_name);
  assert_null(file.driver_version);
  arena_fini(&arena);
}

static void mistakes_are_reported(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum status status;
    const char *said;
  } MISTAKES[] = {
      {"[]", STATUS_INVALID, "no object \"nvbandwidth\""},
      {"{\"nvbandwidth\": 3}", STATUS_INVALID, "no object \"nvbandwidth\""},
      {"{\"nvbandwidth\": {}}", STATUS_INVALID, "no \"version\""},
      {"{\"nvbandwidth\": {\"version\": \"best\"}}", STATUS_INVALID, "\"best\""},
      {"{\"nvbandwidth\": {\"version\": \"v0.4\"}}", STATUS_UNSUPPORTED, "0.5 to 0.8"},
      {"{\"nvbandwidth\": {\"version\": \"v0.9\"}}", STATUS_UNSUPPORTED, "nvbandwidth 0.9"},
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
  for (size_t i = 0; i < sizeof MISTAKES / sizeof *MISTAKES; i++) {
    struct arena arena = {0};
    struct nvbandwidth_file file;
    struct error err = {0};
    enum status status = parse(MISTAKES[i].text, &arena, &file, &err);
    if (status != MISTAKES[i].status || strstr(err.message, MISTAKES[i].said) == NULL ||
        strstr(err.message, "nvb.json") == NULL) {
      fail_msg("%s\n  gives %d: %s", MISTAKES[i].text, (int)status, err.message);
    }
    arena_fini(&arena);
  }
}

static void broken_json_has_a_position(void **state) {
  (void)state;
  struct arena arena = {0};
  struct nvbandwidth_file file;
  struct error err = {0};
  assert_int_equal(
      parse("{\n  \"nvbandwidth\": {\n    \"version\" \"v0.8\"\n", &arena, &file, &err),
      STATUS_INVALID);
  assert_string_equal(err.position.file, "nvb.json");
  assert_int_equal(err.position.line, 3);
  assert_true(err.position.column > 1);
  assert_non_null(strstr(err.message, "no valid JSON"));
  /* Text before it, and a file cut short at any byte. */
  assert_int_equal(parse("Running host_to_device_memcpy_ce.\n", &arena, &file, &err),
                   STATUS_INVALID);
  assert_int_equal(err.position.line, 1);
  static const char WHOLE[] =
      "{\"nvbandwidth\": {\"version\": \"v0.8\", \"GPU Device list\": [\"0: H (00000000:06:00): "
      "(h)\"], \"testcases\": [{\"name\": \"x\", \"bandwidth_matrix\": [[\"1\", \"N/A\"]]}]}}";
  for (size_t length = 0; length < sizeof WHOLE - 1; length++) {
    assert_int_equal(nvbandwidth_parse(WHOLE, length, "nvb.json", &arena, &file, &err),
                     STATUS_INVALID);
  }
  assert_int_equal(nvbandwidth_parse(WHOLE, sizeof WHOLE - 1, "nvb.json", &arena, &file, &err),
                   STATUS_OK);
  arena_fini(&arena);
}

static void unreadable_file_is_an_error(void **state) {
  (void)state;
  struct arena arena = {0};
  struct nvbandwidth_file file;
  struct error err = {0};
  assert_int_equal(nvbandwidth_read("/nowhere/nvb.json", &arena, &file, &err), STATUS_NOT_FOUND);
  assert_int_equal(nvbandwidth_read("/tmp", &arena, &file, &err), STATUS_INVALID);
  assert_int_equal(nvbandwidth_read("/dev/null", &arena, &file, &err), STATUS_INVALID);
  arena_fini(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(real_file_of_0_8_is_read),    cmocka_unit_test(older_files_are_read),
      cmocka_unit_test(mistakes_are_reported),       cmocka_unit_test(broken_json_has_a_position),
      cmocka_unit_test(unreadable_file_is_an_error),
  };
  return cmocka_run_group_tests_name("runner/import/nvbandwidth", tests, NULL, NULL);
}
