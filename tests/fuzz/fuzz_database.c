/* A results database in which any bytes were changed: it is read, or called damaged. The input is a
 * list of changes to a sound one, each of a place (3 bytes, of the first page for one value of the
 * last, else from the second on), a length (1 byte) and as many bytes;
 * or, where it begins as a database does, the whole file. Its last byte chooses what is asked.
 *
 * Opening reads and parses the whole schema, which takes longer than most questions. Changes behind
 * the first page are therefore mostly made below a connection that is open, as another process
 * would make them, and the connection is told by the header's change counter. */
#include "runner/record/query.h"
#include "runner/table/result_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/runner/record/fixture.h"

#include <string.h>

static const uint64_t limit_ns = 200000000;

/* https://www.sqlite.org/fileformat.html, 1.3 */
enum { HEADER_PAGE_SIZE = 16, HEADER_CHANGE_COUNTER = 24, CHANGES_MAX = 1 << 14 };
struct range {
  size_t at, length;
};

static struct {
  uint8_t *bytes;
  size_t size;
  size_t page_bytes;
  uint32_t change_counter;
  int fd;
  char path[96];
  struct query *kept;
  struct range changed[CHANGES_MAX];
  size_t changed_count;
} sound;

/* For so many of the 256 bytes. libFuzzer puts what a comparison asks for into its inputs; what
 * takes long is therefore not asked for as it is. */
static bool is_one_of(uint8_t byte, unsigned many) {
  return (uint8_t)(byte * 167 + 89) < many;
}

/* Made once: a run of two processes. */
static void make_sound(void) {
  static struct fixture *fixture; /* as long as the process, with its folder */
  fixture = fixture_new();
  fuzz_remove_after(fixture->folder);
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
  sound.page_bytes = (size_t)sound.bytes[HEADER_PAGE_SIZE] << 8 | sound.bytes[HEADER_PAGE_SIZE + 1];
  (void)snprintf(sound.path, sizeof sound.path, "%s", fixture->path);
  sound.fd = open(sound.path, O_RDWR | O_CLOEXEC);
  fuzz_require(sound.fd >= 0, "no file");
}

static void write_at(size_t at, const uint8_t *bytes, size_t length) {
  fuzz_require(pwrite(sound.fd, bytes, length, (off_t)at) == (ssize_t)length, "no room");
}

/* The sound database, of which an open connection sees that it changed. */
static void restore_sound(void) {
  uint8_t counter[4];
  for (size_t i = 0; i < sound.changed_count; i++) {
    write_at(sound.changed[i].at, sound.bytes + sound.changed[i].at, sound.changed[i].length);
  }
  sound.changed_count = 0;
  sound.change_counter++;
  for (size_t i = 0; i < sizeof counter; i++) {
    counter[i] = (uint8_t)(sound.change_counter >> 8 * i);
  }
  write_at(HEADER_CHANGE_COUNTER, counter, sizeof counter);
}

/* Returns whether the first page is another one, so that the file has to be opened anew. */
static bool write_changed(const uint8_t *data, size_t size) {
  bool first_page = false;
  while (size > 4 && sound.changed_count < CHANGES_MAX) {
    const size_t place = (size_t)data[0] | (size_t)data[1] << 8;
    const size_t at =
        is_one_of(data[2], 1)
            ? place % sound.page_bytes
            : sound.page_bytes + (place | (size_t)data[2] << 16) % (sound.size - sound.page_bytes);
    size_t length = data[3];
    data += 4;
    size -= 4;
    length = length < size ? length : size;
    length = length < sound.size - at ? length : sound.size - at;
    write_at(at, data, length);
    sound.changed[sound.changed_count++] = (struct range){at, length};
    first_page = first_page || at < sound.page_bytes;
    data += length;
    size -= length;
  }
  return first_page;
}

static void ask(struct query *query, uint8_t what) {
  static const char *const quick[] = {"SELECT count(*), max(elapsed_ns) FROM trial",
                                      "SELECT * FROM environment_fact",
                                      "SELECT * FROM trial",
                                      "SELECT * FROM bench_case",
                                      "SELECT * FROM case_run",
                                      "SELECT * FROM v_run"};
  static const char *const slow[] = {"run-result", "runs", "checks", "cases"};
  const struct query_options options = {.time_limit_ns = limit_ns};
  struct error err = {0};
  struct result_set rows;
  result_set_init(&rows, 1000);
  const enum status status =
      is_one_of(what, 4)
          ? query_run_saved(query, slow[what % 4], NULL, 0, &options, &rows.sink, &err)
          : query_run(query, quick[what % 6], NULL, 0, &options, &rows.sink, &err);
  fuzz_require(status == STATUS_OK || err.message[0] != '\0', "no error is reported");
  result_set_fini(&rows);
}

static void open_and_ask(uint8_t what) {
  struct query *query = NULL;
  struct error err = {0};
  if (query_open(sound.path, &query, &err) == STATUS_OK) {
    ask(query, what);
  } else {
    fuzz_require(err.message[0] != '\0', "no error is reported");
  }
  query_close(query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char magic[] = "SQLite format 3";
  const uint8_t what = size > 0 ? data[size - 1] : 0;
  struct error err = {0};
  if (sound.bytes == NULL) {
    make_sound();
    fuzz_require(query_open(sound.path, &sound.kept, &err) == STATUS_OK, err.message);
  }
  if (size > sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
    fuzz_require(ftruncate(sound.fd, 0) == 0, "no file");
    write_at(0, data, size);
    open_and_ask(what);
    fuzz_require(ftruncate(sound.fd, (off_t)sound.size) == 0, "no room");
    write_at(0, sound.bytes, sound.size);
  } else if (write_changed(data, size) || is_one_of(what, 1)) {
    open_and_ask(what);
  } else {
    ask(sound.kept, what);
  }
  restore_sound();
  return 0;
}
