/* A results database in which any bytes were changed: it is read, or called damaged. The input is a
 * list of changes to a sound one, each of a place (3 bytes, of the first page for one value of the
 * last, else from the second on), a length (1 byte) and as many bytes;
 * or, where it begins as a database does, the whole file. Its last byte chooses what is asked.
 *
 * An input that begins with "journal:", "wal:" or "shm:" is the file of that name beside a sound
 * database, as companion_write() describes. One that begins with "schema:" changes the text of a
 * schema, as schema_change() does. Neither may remove or change another file.
 *
 * Opening reads and parses the whole schema, which takes longer than most questions. Changes behind
 * the first page are therefore mostly made below a connection that is open, as another process
 * would make them, and the connection is told by the header's change counter. */
#include "runner/record/merge.h"
#include "runner/record/query.h"
#include "runner/table/result_set.h"
#include "tests/fuzz/fuzz.h"
#include "tests/runner/record/fixture.h"

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
  char beside[112]; /* another copy: with companions, or with another schema */
  char victim[112]; /* a file that nothing may remove or change */
  struct query *kept;
  struct range changed[CHANGES_MAX];
  size_t changed_count;
} sound;

/* For so many of the 256 bytes. libFuzzer puts what a comparison asks for into its inputs; what
 * takes long is therefore not asked for as it is. */
static bool is_one_of(uint8_t byte, unsigned many) {
  return (uint8_t)(byte * 167 + 89) < many;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "wbe");
  fuzz_require(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0,
               "no room");
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
  (void)snprintf(sound.beside, sizeof sound.beside, "%s-beside", sound.path);
  (void)snprintf(sound.victim, sizeof sound.victim, "%s-victim", sound.path);
  write_file(sound.victim, (const uint8_t *)sound.victim, strlen(sound.victim));
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

/* The next change of the list; *bytes are its range.length bytes. */
static bool next_change(const uint8_t **data, size_t *size, struct range *range,
                        const uint8_t **bytes) {
  if (*size <= 4) {
    return false;
  }
  const uint8_t *from = *data;
  const size_t place = (size_t)from[0] | (size_t)from[1] << 8;
  const size_t at = is_one_of(from[2], 1) ? place % sound.page_bytes
                                          : sound.page_bytes + (place | (size_t)from[2] << 16) %
                                                                   (sound.size - sound.page_bytes);
  size_t length = from[3];
  length = length < *size - 4 ? length : *size - 4;
  length = length < sound.size - at ? length : sound.size - at;
  *range = (struct range){at, length};
  *bytes = from + 4;
  *data += 4 + length;
  *size -= 4 + length;
  return true;
}

/* Returns whether the first page is another one, so that the file has to be opened anew. */
static bool write_changed(const uint8_t *data, size_t size) {
  bool first_page = false;
  struct range range;
  const uint8_t *bytes;
  while (sound.changed_count < CHANGES_MAX && next_change(&data, &size, &range, &bytes)) {
    write_at(range.at, bytes, range.length);
    sound.changed[sound.changed_count++] = range;
    first_page = first_page || range.at < sound.page_bytes;
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

static void open_and_ask(const char *path, uint8_t what) {
  struct query *query = NULL;
  struct error err = {0};
  if (query_open(path, &query, &err) == STATUS_OK) {
    ask(query, what);
  } else {
    fuzz_require(err.message[0] != '\0', "no error is reported");
  }
  query_close(query);
}

/* Other ways to use it; none may fail without a word. */
static void open_to_write(void) {
  struct database *database = NULL;
  struct error err = {0};
  fuzz_require(database_open_waiting(sound.beside, DATABASE_WRITE, 0, &database, &err) ==
                       STATUS_OK ||
                   err.message[0] != '\0',
               "no error is reported");
  fuzz_require(database == NULL || database->foreign == NULL, "a foreign schema is written");
  database_close(database);
}

static void merge_it(void) {
  struct database *output = NULL;
  struct merge_result result = {0};
  struct error err = {0};
  bool fatal = false;
  struct merge *merge = merge_new(sound.path, NULL);
  fuzz_require(database_open_temporary(&output, &err) == STATUS_OK &&
                   merge_take_output(merge, output, &err) == STATUS_OK,
               err.message);
  fuzz_require(merge_add(merge, sound.beside, &result, &fatal, &err) == STATUS_OK ||
                   err.message[0] != '\0',
               "no error is reported");
  merge_free(merge);
}

static void use_beside(uint8_t what) {
  if (is_one_of(what, 24)) {
    merge_it();
  } else if (is_one_of(what, 48)) {
    open_to_write();
  } else {
    open_and_ask(sound.beside, what);
  }
}

static size_t read_file(const char *path, uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "rbe");
  const size_t got = file != NULL ? fread(bytes, 1, size, file) : 0;
  if (file != NULL) {
    (void)fclose(file);
  }
  return got;
}

static void require_victim(void) {
  char text[sizeof sound.victim + 1] = "";
  (void)read_file(sound.victim, (uint8_t *)text, sizeof text - 1);
  fuzz_require(strcmp(text, sound.victim) == 0, "another file was removed or changed");
}

/* ---- files beside it: https://www.sqlite.org/fileformat2.html, 3 and 4 ---- */

enum { JOURNAL_HEAD = 512, WAL_HEAD = 32, FRAME_HEAD = 24, NONCE = 7, HEADER_FORMATS = 18 };

static void put_number(uint8_t *bytes, size_t number) {
  for (size_t i = 0; i < 4; i++) {
    bytes[i] = (uint8_t)(number >> (24 - 8 * i));
  }
}

/* The page with the change; its number, from 1 on. */
static size_t make_page(const struct range *range, const uint8_t *bytes, uint8_t *page) {
  const size_t number = range->at / sound.page_bytes;
  const size_t in_page = range->at % sound.page_bytes;
  const size_t room = sound.page_bytes - in_page;
  memcpy(page, sound.bytes + number * sound.page_bytes, sound.page_bytes);
  memcpy(page + in_page, bytes, range->length < room ? range->length : room);
  return number + 1;
}

static const uint8_t journal_magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* The name of the victim, as a super-journal. */
static void write_super_journal(FILE *file) {
  uint8_t number[4];
  size_t sum = 0;
  for (const char *at = sound.victim; *at != '\0'; at++) {
    sum += (size_t)*at;
  }
  put_number(number, 0x40000000 / sound.page_bytes + 1);
  (void)fwrite(number, 1, 4, file);
  (void)fputs(sound.victim, file);
  put_number(number, strlen(sound.victim));
  (void)fwrite(number, 1, 4, file);
  put_number(number, sum);
  (void)fwrite(number, 1, 4, file);
  (void)fwrite(journal_magic, 1, sizeof journal_magic, file);
}

/* A hot journal, which is played back: each change of the list is a page. */
static void write_journal(FILE *file, const uint8_t *data, size_t size, uint8_t *page) {
  uint8_t head[JOURNAL_HEAD] = {0};
  uint8_t number[4];
  struct range range;
  const uint8_t *bytes;
  memcpy(head, journal_magic, sizeof journal_magic);
  put_number(head + 8, 0xffffffff);
  put_number(head + 12, NONCE);
  put_number(head + 16, sound.size / sound.page_bytes);
  put_number(head + 20, JOURNAL_HEAD);
  put_number(head + 24, sound.page_bytes);
  (void)fwrite(head, 1, sizeof head, file);
  while (next_change(&data, &size, &range, &bytes)) {
    size_t sum = NONCE;
    put_number(number, make_page(&range, bytes, page));
    for (size_t i = sound.page_bytes - 200; i < sound.page_bytes && i > 0; i -= 200) {
      sum += page[i];
    }
    (void)fwrite(number, 1, 4, file);
    (void)fwrite(page, 1, sound.page_bytes, file);
    put_number(number, sum);
    (void)fwrite(number, 1, 4, file);
  }
}

static void add_to_sum(uint32_t sum[2], const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint32_t words[2];
    memcpy(words, bytes + i, sizeof words); /* little-endian, as the magic number says */
    sum[0] += words[0] + sum[1];
    sum[1] += words[1] + sum[0];
  }
}

/* A write-ahead log with one transaction: each change of the list is a frame. */
static void write_log(FILE *file, const uint8_t *data, size_t size, uint8_t *page) {
  uint8_t head[WAL_HEAD] = {0};
  uint32_t sum[2] = {0};
  struct range range;
  const uint8_t *bytes;
  put_number(head, 0x377f0682);
  put_number(head + 4, 3007000);
  put_number(head + 8, sound.page_bytes);
  add_to_sum(sum, head, 24);
  put_number(head + 24, sum[0]);
  put_number(head + 28, sum[1]);
  (void)fwrite(head, 1, sizeof head, file);
  while (next_change(&data, &size, &range, &bytes)) {
    uint8_t frame[FRAME_HEAD] = {0};
    put_number(frame, make_page(&range, bytes, page));
    put_number(frame + 4, sound.size / sound.page_bytes);
    add_to_sum(sum, frame, 8);
    add_to_sum(sum, page, sound.page_bytes);
    put_number(frame + 16, sum[0]);
    put_number(frame + 20, sum[1]);
    (void)fwrite(frame, 1, sizeof frame, file);
    (void)fwrite(page, 1, sound.page_bytes, file);
  }
}

/* Its first byte says what is in it: bit 0, the bytes as they are, else what is made of a list of
 * changes; bit 1, the name of the victim at the end. */
static void companion_write(const char *path, bool log, const uint8_t *data, size_t size) {
  const uint8_t form = size > 0 ? data[0] : 0;
  uint8_t *page = malloc(sound.page_bytes);
  FILE *file = fopen(path, "wbe");
  fuzz_require(file != NULL && page != NULL, "no room");
  data += size > 0;
  size -= size > 0;
  if ((form & 1) != 0) {
    (void)fwrite(data, 1, size, file);
  } else if (log) {
    write_log(file, data, size, page);
  } else {
    write_journal(file, data, size, page);
  }
  if ((form & 2) != 0) {
    write_super_journal(file);
  }
  (void)fclose(file);
  free(page);
}

/* suffix: "-journal", "-wal" or "-shm". */
static void try_companion(const char *suffix, const uint8_t *data, size_t size, uint8_t what) {
  static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
  const uint8_t format = strcmp(suffix, "-journal") == 0 ? 1 : 2;
  const uint8_t formats[2] = {format, format};
  char path[sizeof sound.beside + 16];
  write_file(sound.beside, sound.bytes, sound.size);
  const int fd = open(sound.beside, O_WRONLY | O_CLOEXEC);
  fuzz_require(pwrite(fd, formats, 2, HEADER_FORMATS) == 2 && close(fd) == 0, "no file");
  (void)snprintf(path, sizeof path, "%s%s", sound.beside, suffix);
  companion_write(path, strcmp(suffix, "-wal") == 0, data, size);
  use_beside(what);
  for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
    (void)snprintf(path, sizeof path, "%s%s", sound.beside, suffixes[i]);
    (void)unlink(path);
  }
  require_victim();
}

/* ---- the text of its schema ---- */

enum { SCHEMA_EDIT = 5, TEXT_MAX = 64 };

static char *schema_value(sqlite3 *handle, const char *sql, unsigned which) {
  sqlite3_stmt *row = NULL;
  char *text = NULL;
  if (sqlite3_prepare_v2(handle, sql, -1, &row, NULL) == SQLITE_OK &&
      sqlite3_bind_int(row, 1, (int)which) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
    const char *value = (const char *)sqlite3_column_text(row, 0);
    text = sqlite3_mprintf("%s", value != NULL ? value : "");
  }
  (void)sqlite3_finalize(row);
  return text != NULL ? text : sqlite3_mprintf("");
}

/* One edit: of a table, view or index (byte 0), what (1), a column or place (2 and 3), the length
 * of a text (4) and that text. What is no SQL, SQLite refuses here. */
static void schema_change(sqlite3 *handle, const uint8_t *edit, const char *text) {
  static const char *const computed[] = {"1", "elapsed_ns", "rowid", "zeroblob(1000000000)",
                                         "randomblob(8)"};
  char *name = schema_value(
      handle,
      "SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid LIMIT 1 OFFSET ?1 % "
      "(SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL)",
      edit[0]);
  char *list = sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) LIMIT 1 OFFSET ?1 %% max(1, "
                               "(SELECT count(*) FROM pragma_table_info(%Q)))",
                               name, name);
  char *column = schema_value(handle, list, edit[2]);
  const unsigned place = edit[2] | (unsigned)edit[3] << 8;
  char *sql = NULL;
  switch (edit[1] % 11) {
  case 0:
    sql = sqlite3_mprintf("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', %Q) "
                          "WHERE name = %Q",
                          text, name);
    break;
  case 1:
    sql = sqlite3_mprintf("UPDATE sqlite_master SET sql = substr(sql, 1, %u) || %Q || "
                          "substr(sql, %u) WHERE name = %Q",
                          place % 2000, text, place % 2000 + edit[4] / 8, name);
    break;
  case 2:
    sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"c%w\" AS (%s)", name, text,
                          computed[edit[3] % 5]);
    break;
  case 3:
    sql = sqlite3_mprintf("CREATE TRIGGER \"%w\" AFTER %s ON \"%w\" BEGIN DELETE FROM trial; END",
                          text, edit[3] % 2 == 0 ? "INSERT" : "UPDATE", name);
    break;
  case 4:
    sql = sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO was_%u; CREATE VIEW \"%w\" AS SELECT *, %Q "
                          "FROM was_%u",
                          name, place, name, text, place);
    break;
  case 5:
    sql = sqlite3_mprintf("DROP VIEW \"%w\"; CREATE VIEW \"%w\" AS WITH RECURSIVE n(\"%w\") AS "
                          "(SELECT 1 UNION ALL SELECT 1 + \"%w\" FROM n) SELECT * FROM n",
                          name, name, column, column);
    break;
  case 6:
    sql = sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = NULL", name, column);
    break;
  case 7:
    sql =
        sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = %Q || char(0) || %Q", name, column, text, text);
    break;
  case 8:
    sql = sqlite3_mprintf("ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO \"%w\"", name, column, text);
    break;
  case 9:
    sql = sqlite3_mprintf("CREATE INDEX \"i%w\" ON \"%w\" (\"%w\" || %Q) WHERE \"%w\" <> %Q", text,
                          name, column, text, column, text);
    break;
  default:
    sql = sqlite3_mprintf("DROP %s \"%w\"",
                          edit[3] % 3 == 0   ? "TABLE"
                          : edit[3] % 3 == 1 ? "VIEW"
                                             : "INDEX",
                          name);
    break;
  }
  (void)sqlite3_exec(handle, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
  sqlite3_free(column);
  sqlite3_free(list);
  sqlite3_free(name);
}

/* A NOT NULL that is back in the text when its column holds NULL. */
static void schema_restore(sqlite3 *handle) {
  char *sql = sqlite3_mprintf(
      "PRAGMA writable_schema = ON; ATTACH %Q AS sound; UPDATE main.sqlite_master SET sql = "
      "ifnull((SELECT s.sql FROM sound.sqlite_master s WHERE s.name = main.sqlite_master.name), "
      "sql)",
      sound.path);
  (void)sqlite3_exec(handle, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
}

static void try_schema(const uint8_t *data, size_t size, uint8_t what) {
  static uint8_t *before, *after;
  static const size_t compared = 1 << 22;
  sqlite3 *handle = NULL;
  const bool restored = size > 0 && (data[0] & 1) != 0;
  write_file(sound.beside, sound.bytes, sound.size);
  data += size > 0;
  size -= size > 0;
  for (unsigned edits = 0; edits < 8 && size > SCHEMA_EDIT; edits++) {
    char text[TEXT_MAX] = "";
    size_t length = data[4] % TEXT_MAX;
    length = length < size - SCHEMA_EDIT ? length : size - SCHEMA_EDIT;
    memcpy(text, data + SCHEMA_EDIT, length);
    /* Anew for each: what one leaves cannot be read keeps the next from being made. */
    fuzz_require(sqlite3_open_v2(sound.beside, &handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK,
                 "no database");
    (void)sqlite3_exec(handle,
                       "PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; "
                       "PRAGMA synchronous = OFF; PRAGMA legacy_alter_table = ON",
                       NULL, NULL, NULL);
    schema_change(handle, data, text);
    (void)sqlite3_close(handle);
    data += SCHEMA_EDIT + length;
    size -= SCHEMA_EDIT + length;
  }
  if (restored &&
      sqlite3_open_v2(sound.beside, &handle, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
    schema_restore(handle);
    (void)sqlite3_close(handle);
  }
  before = before != NULL ? before : malloc(compared);
  after = after != NULL ? after : malloc(compared);
  fuzz_require(before != NULL && after != NULL, "no memory");
  const size_t had = read_file(sound.beside, before, compared);
  use_beside(what);
  fuzz_require(read_file(sound.beside, after, compared) == had && memcmp(before, after, had) == 0,
               "a database of others was changed");
  require_victim();
}

/* The rest of an input that begins so; NULL: it does not. */
static const uint8_t *after_word(const char *word, const uint8_t *data, size_t *size) {
  const size_t length = strlen(word);
  if (*size <= length || memcmp(data, word, length) != 0) {
    return NULL;
  }
  *size -= length;
  return data + length;
}

/* Returns whether it is an input of those. */
static bool try_beside(const uint8_t *data, size_t size, uint8_t what) {
  static const char *const words[] = {"journal:", "wal:", "shm:", "schema:"};
  static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    const uint8_t *rest = after_word(words[i], data, &size);
    if (rest != NULL && i < 3) {
      try_companion(suffixes[i], rest, size, what);
    } else if (rest != NULL) {
      try_schema(rest, size, what);
    }
    if (rest != NULL) {
      return true;
    }
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char magic[] = "SQLite format 3";
  const uint8_t what = size > 0 ? data[size - 1] : 0;
  struct error err = {0};
  if (sound.bytes == NULL) {
    make_sound();
    fuzz_require(query_open(sound.path, &sound.kept, &err) == STATUS_OK, err.message);
  }
  if (try_beside(data, size, what)) {
    return 0;
  }
  if (size > sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
    fuzz_require(ftruncate(sound.fd, 0) == 0, "no file");
    write_at(0, data, size);
    open_and_ask(sound.path, what);
    fuzz_require(ftruncate(sound.fd, (off_t)sound.size) == 0, "no room");
    write_at(0, sound.bytes, sound.size);
  } else if (write_changed(data, size) || is_one_of(what, 1)) {
    open_and_ask(sound.path, what);
  } else {
    ask(sound.kept, what);
  }
  restore_sound();
  return 0;
}
