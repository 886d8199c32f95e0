/* A results database in which any bytes were changed: it is read, or called damaged. The input is a
 * list of changes to a sound one, each of a place (3 bytes), a length (1 byte) and as many bytes;
 * or, where it begins as a database does, the whole file. */
#include "runner/record/query.h"
#include "runner/table/result_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/runner/record/fixture.h"

#include <string.h>
#include <unistd.h>

static const uint64_t limit_ns = 200000000;

static struct {
  uint8_t *bytes;
  size_t size;
  char path[64];
} sound;

/* Made once: a run of two processes. */
static void make_sound(void) {
  struct fixture *fixture = fixture_new();
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;"
                                 "DELETE FROM trial WHERE ordinal % 8 <> 0; VACUUM");
  FILE *file = fopen(fixture->path, "rbe");
  fuzz_require(file != NULL && fseek(file, 0, SEEK_END) == 0, "no database");
  sound.size = (size_t)ftell(file);
  sound.bytes = malloc(sound.size);
  rewind(file);
  fuzz_require(sound.bytes != NULL && fread(sound.bytes, 1, sound.size, file) == sound.size,
               "no database");
  (void)fclose(file);
  fixture_free(fixture);
  (void)snprintf(sound.path, sizeof sound.path, "/dev/shm/haul-fuzz-%ld.db", (long)getpid());
}

static void write_changed(const uint8_t *data, size_t size) {
  static const char magic[] = "SQLite format 3";
  FILE *file = fopen(sound.path, "wbe");
  fuzz_require(file != NULL, "no file");
  if (size > sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
    (void)fwrite(data, 1, size, file);
  } else {
    (void)fwrite(sound.bytes, 1, sound.size, file);
    while (size > 4) {
      const size_t at =
          ((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % sound.size;
      size_t length = data[3];
      data += 4;
      size -= 4;
      length = length < size ? length : size;
      (void)fseek(file, (long)at, SEEK_SET);
      (void)fwrite(data, 1, length, file);
      data += length;
      size -= length;
    }
  }
  (void)fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const statements[] = {"SELECT * FROM v_case", "SELECT * FROM v_run",
                                           "SELECT count(*), max(elapsed_ns) FROM trial",
                                           "SELECT * FROM environment_fact"};
  static const char *const saved[] = {"run-result", "runs", "curves"};
  const struct query_options options = {.time_limit_ns = limit_ns};
  struct query *query = NULL;
  struct error err = {0};
  if (sound.bytes == NULL) {
    make_sound();
  }
  write_changed(data, size);
  if (query_open(sound.path, &query, &err) != STATUS_OK) {
    fuzz_require(err.message[0] != '\0', "no error is reported");
  }
  if (query != NULL) {
    const size_t asked = size > 0 ? data[size - 1] % 7 : 0;
    struct result_set rows;
    result_set_init(&rows, 1000);
    err.message[0] = '\0';
    const enum status status =
        asked < 4 ? query_run(query, statements[asked], NULL, 0, &options, &rows.sink, &err)
                  : query_run_saved(query, saved[asked - 4], NULL, 0, &options, &rows.sink, &err);
    fuzz_require(status == STATUS_OK || err.message[0] != '\0', "no error is reported");
    result_set_fini(&rows);
  }
  query_close(query);
  (void)unlink(sound.path);
  return 0;
}
