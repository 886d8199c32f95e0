/* Any bytes as the SQL of a user: nothing is written, whatever it asks for. */
#include "runner/record/query.h"
#include "runner/table/result_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/runner/record/fixture.h"

#include <sys/stat.h>

static const uint64_t limit_ns = 50000000;
enum { SQL_MAX = 4096, FIRST_INPUTS_CHECKED = 1000, INPUTS_BETWEEN_CHECKS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct fixture *fixture;
  static struct query *query;
  static struct stat before;
  static unsigned count;
  const struct query_options options = {.time_limit_ns = limit_ns};
  struct error err = {0};
  char sql[SQL_MAX + 1];
  if (fixture == NULL) {
    fixture = fixture_new();
    fuzz_remove_after(fixture->folder);
    fixture_record_run(fixture, 1);
    fixture_execute(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
    fuzz_require(stat(fixture->path, &before) == 0, "no database");
    fuzz_require(query_open(fixture->path, &query, &err) == STATUS_OK, err.message);
  }
  size = size < SQL_MAX ? size : SQL_MAX;
  memcpy(sql, data, size);
  sql[size] = '\0';
  struct result_set rows;
  result_set_init(&rows, 100);
  const enum status status = query_run(query, sql, NULL, 0, &options, &rows.sink, &err);
  fuzz_require(status == STATUS_OK || err.message[0] != '\0', "no error is reported");
  result_set_fini(&rows);
  if (++count < FIRST_INPUTS_CHECKED || count % INPUTS_BETWEEN_CHECKS == 0) {
    struct stat after;
    fuzz_require(stat(fixture->path, &after) == 0 && after.st_size == before.st_size &&
                     after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
                     after.st_mtim.tv_nsec == before.st_mtim.tv_nsec,
                 "the database was written to");
  }
  return 0;
}
