/* What the shipped scenarios plan can be merged: each kind of case is what its definition says. */
#include "runner/record/merge.h"
#include "runner/record/record.h"
#include "tests/cmocka.h"
#include "tests/runner/plan/fixture.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RELEASE(record_close, struct record)

enum { PATH_MAX_BYTES = 128 };

static void record_plan(const char *path, const struct planned *planned) {
  struct error err = {0};
  SCOPED(record_close_at) struct record *record = NULL;
  const struct run_info info = {.haul_version = "0.1.0", .command_line = "haul", .processes = 1};
  assert_ok(record_open(path, &record, &err), &err);
  if (record_begin_run(record, &info, planned->machine, planned->plan, NULL, 0, &err) !=
      STATUS_OK) {
    fail_msg("%s", err.message);
  }
}

TEST(every_shipped_scenario_is_merged) {
  glob_t found;
  char folder[] = "/tmp/haul-merge-XXXXXX";
  struct merge_result result;
  bool fatal = false;
  assert_non_null(mkdtemp(folder));
  PRINTED(input, PATH_MAX_BYTES, "%s/in.db", folder);
  PRINTED(output, PATH_MAX_BYTES, "%s/out.db", folder);
  assert_int_equal(glob(HAUL_SOURCE_DIR "/scenarios/*.toml", 0, NULL, &found), 0);
  assert_true(found.gl_pathc >= 20);
  struct merge *merge = merge_new(output, NULL);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char *name = strrchr(found.gl_pathv[i], '/') + 1;
    name[strlen(name) - strlen(".toml")] = '\0';
    SCOPED(planned_fini) struct planned planned = planned_shipped("h200x4.toml", name, NULL, 0);
    record_plan(input, &planned);
    if (merge_add(merge, input, &result, &fatal, err) != STATUS_OK) {
      fail_msg("%s: %s", name, err->message);
    }
    assert_int_equal(result.added, 1);
    assert_int_equal(unlink(input), 0);
  }
  merge_free(merge);
  globfree(&found);
  assert_int_equal(unlink(output), 0);
  assert_int_equal(rmdir(folder), 0);
}
