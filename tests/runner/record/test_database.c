#include "runner/record/database.h"

#include "engine/machine/machine.h"
#include "runner/record/foreign.h"
#include "runner/record/manage.h"
#include "runner/record/migrate.h"
#include "schema/results/results_sql.h"
#include "tests/runner/record/fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SHORT_WAIT_MS = 50 };

/* Opening fails with that status and a message that names the path and says each of the words;
 * whatever is at the path stays as it is. */
static void assert_refused(const char *path, enum database_access access, enum status expected,
                           const char *words) {
  struct stat before = {0};
  struct stat after = {0};
  (void)stat(path, &before);
  struct database *database = NULL;
  struct error err = {0};
  assert_fails(database_open_waiting(path, access, SHORT_WAIT_MS, &database, &err), expected, &err,
               words);
  assert_contains(err.message, path);
  assert_null(database);
  assert_null(strchr(err.message, '\n'));
  assert_null(strstr(err.message, "database/")); /* no name of a statement */
  (void)stat(path, &after);
  assert_int_equal(before.st_size, after.st_size);
  assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void assert_opens(const char *path, enum database_access access) {
  SCOPED(database_close_at) struct database *database = NULL;
  struct error err = {0};
  assert_ok(database_open_waiting(path, access, SHORT_WAIT_MS, &database, &err), &err);
  assert_int_equal(database->version, migrate_latest_version());
}

/* What a file of the latest version is compared with. First, since every other test needs it. */
TEST(listed_schema_is_what_migrations_make) {
  struct database *database = NULL;
  SCOPED(memory_free) char *listed = database_sql("objects.txt");
  CAPTURE(made);
  assert_ok(database_open_temporary(&database, err), err);
  assert_ok(foreign_print(database, made.stream, err), err);
  database_close(database);
  if (strcmp(capture_text(&made), listed) != 0) {
    const char *place = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    PRINTED(path, 256, "%s/haul-schema.txt", place);
    write_text(path, capture_text(&made));
    fail_msg("the schema is another one: cp %s schema/results/objects.txt", path);
  }
}

FIXTURE_TEST(new_database_is_created_with_its_directory) {
  PRINTED(folder, 128, "%s/a", fixture->folder);
  PRINTED(path, 160, "%s/b", folder);
  (void)snprintf(path, sizeof path, "%s/a/b/results.db", fixture->folder);
  assert_opens(path, DATABASE_WRITE);
  assert_opens(path, DATABASE_WRITE);
  assert_opens(path, DATABASE_READ);
  assert_int_equal(unlink(path), 0);
  *strrchr(path, '/') = '\0';
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(rmdir(folder), 0);
  write_text(fixture->path, ""); /* as mktemp makes it */
  assert_opens(fixture->path, DATABASE_WRITE);
}

FIXTURE_TEST(connections_have_safe_settings) {
  static const struct {
    int setting, value;
  } SAFE[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
              {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
              {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
  struct database *database = fixture_open(fixture, DATABASE_WRITE);
  for (size_t i = 0; i < COUNT_OF(SAFE); i++) {
    int value = -1;
    assert_int_equal(sqlite3_db_config(database->handle, SAFE[i].setting, -1, &value), SQLITE_OK);
    assert_int_equal(value, SAFE[i].value);
  }
  assert_null(database->network_file_system);
  database_close(database);
  assert_query(fixture, "pragma journal_mode", "delete");
}

FIXTURE_TEST(special_names_are_files) {
  assert_int_equal(chdir(fixture->folder), 0);
  assert_opens(":memory:", DATABASE_WRITE);
  assert_int_equal(access(":memory:", F_OK), 0);
  assert_opens("file:x?mode=memory", DATABASE_WRITE);
  assert_int_equal(access("file:x?mode=memory", F_OK), 0);
  assert_int_equal(chdir("/"), 0);
}

FIXTURE_TEST(other_files_are_refused_unchanged) {
  const enum database_access both[] = {DATABASE_READ, DATABASE_WRITE};
  PRINTED(fifo, 96, "%s/fifo", fixture->folder);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  for (size_t i = 0; i < 2; i++) {
    assert_refused(fixture->folder, both[i], STATUS_INVALID, "is a directory");
    assert_refused(fifo, both[i], STATUS_INVALID, "is not a regular file");
    assert_refused("/dev/null", both[i], STATUS_INVALID, "is not a regular file");
    write_text(fixture->path, "# a text that is much longer than nothing\n");
    assert_refused(fixture->path, both[i], STATUS_INVALID, "is not a results database");
    assert_int_equal(unlink(fixture->path), 0);
    fixture_execute(fixture->path, "create table t (x); pragma user_version = 7;");
    assert_refused(fixture->path, both[i], STATUS_INVALID, "another program's");
    assert_int_equal(unlink(fixture->path), 0);
    fixture_execute(fixture->path, "pragma application_id = 42; create table t (x);");
    assert_refused(fixture->path, both[i], STATUS_INVALID, "application id 42");
    assert_int_equal(unlink(fixture->path), 0);
  }
}

FIXTURE_TEST(missing_database_is_not_found) {
  assert_refused(fixture->path, DATABASE_READ, STATUS_NOT_FOUND, "no results at");
  write_text(fixture->path, "");
  assert_refused(fixture->path, DATABASE_READ, STATUS_NOT_FOUND, "no results at");
  assert_int_equal(unlink(fixture->path), 0);
  fixture_execute(fixture->path, "vacuum");
  assert_refused("/dev/null/results.db", DATABASE_WRITE, STATUS_IO, "cannot look at");
}

FIXTURE_TEST(damaged_database_is_reported) {
  fixture_record_run(fixture, 1);
  int fd = open(fixture->path, O_WRONLY);
  char junk[3996];
  memset(junk, 0x5a, sizeof junk);
  assert_int_equal(pwrite(fd, junk, sizeof junk, 100), sizeof junk);
  (void)close(fd);
  assert_refused(fixture->path, DATABASE_READ, STATUS_CORRUPT, "it is damaged");
}

FIXTURE_TEST(newer_schema_is_read_or_refused) {
  assert_opens(fixture->path, DATABASE_WRITE);
  fixture_execute(fixture->path, "pragma user_version = 1999");
  PRINTED(message, 96, "newer haul (schema 1.999, this one knows 1.%d) and cannot be added to",
          migrate_latest_version() % MIGRATE_VERSIONS_PER_MAJOR);
  assert_refused(fixture->path, DATABASE_WRITE, STATUS_UNSUPPORTED, message);
  struct database *database = fixture_open(fixture, DATABASE_READ);
  assert_int_equal(database->version, 1999);
  database_close(database);
  fixture_execute(fixture->path, "pragma user_version = 2000");
  assert_refused(fixture->path, DATABASE_WRITE, STATUS_UNSUPPORTED, "cannot be used");
  assert_refused(fixture->path, DATABASE_READ, STATUS_UNSUPPORTED, "cannot be used");
}

FIXTURE_TEST(schema_before_first_release_is_refused) {
  assert_opens(fixture->path, DATABASE_WRITE);
  fixture_execute(fixture->path, "pragma user_version = 1001");
  assert_refused(fixture->path, DATABASE_READ, STATUS_UNSUPPORTED,
                 "before 0.2.0 (schema 1.1), whose schema was never released; read it with");
  assert_refused(fixture->path, DATABASE_WRITE, STATUS_UNSUPPORTED, "name another file");
}

/* Made by a haul between two releases: the version is one that this haul knows, the tables are not
 * those of it. */
FIXTURE_TEST(schema_of_no_release_is_refused) {
  static const struct {
    const char *recorded; /* NULL: a new database */
    const char *change;
    const char *message;
  } FILES[] = {
      {"results-1003.sql", "drop table fleet_node",
       "results.db: it says that it has schema 1.3, but its table fleet_node is missing or "
       "altered: "
       "a haul between two releases made it, or other means changed it; use the haul that made it"},
      {"results-1003.sql", "alter table stream rename column repeat_order to repeats",
       "has schema 1.3, but its table stream is missing or altered"},
      {"results-1002.sql", "alter table run add column mood text",
       "has schema 1.2, but its table run is missing or altered"},
      {NULL, "update schema_text set migrations = 'other'",
       "but its tables or views are not those of that schema: a haul between two releases"},
      {NULL, "update schema_text set views = 'other'", "not those of that schema"},
      {NULL, "delete from schema_text", "not those of that schema"},
      {NULL, "drop table schema_text", "but its table schema_text is missing or altered"},
  };
  for (size_t i = 0; i < COUNT_OF(FILES); i++) {
    (void)remove(fixture->path);
    if (FILES[i].recorded != NULL) {
      fixture_load(fixture, FILES[i].recorded);
    } else {
      assert_opens(fixture->path, DATABASE_WRITE);
    }
    assert_opens(fixture->path, DATABASE_READ);
    fixture_execute(fixture->path, FILES[i].change);
    assert_refused(fixture->path, DATABASE_READ, STATUS_INVALID, FILES[i].message);
    assert_refused(fixture->path, DATABASE_WRITE, STATUS_INVALID, FILES[i].message);
  }
}

/* Else the second of them is never run. */
TEST(migrations_lead_to_different_versions) {
  static const char FOLDER[] = "migrations/";
  long before = 0;
  for (size_t i = 0; i < results_sql_count; i++) {
    if (strncmp(results_sql[i].name, FOLDER, strlen(FOLDER)) == 0) {
      const long version = strtol(results_sql[i].name + strlen(FOLDER), NULL, 10);
      assert_true(version > before);
      before = version;
    }
  }
  assert_int_equal(before, migrate_latest_version());
}

/* Tables and views of somebody else are told, and such a file is not written. */
FIXTURE_TEST(tables_of_others_are_read_and_not_written) {
  fixture_load(fixture, "results-1003.sql");
  fixture_execute(fixture->path,
                  "create table mine (x); create view mine_too as select x from mine");
  struct database *database = fixture_open(fixture, DATABASE_READ);
  assert_string_equal(database->foreign, "table mine, view mine_too");
  database_close(database);
  assert_fails(database_open(fixture->path, DATABASE_WRITE, &database, err), STATUS_INVALID, err,
               "its schema is not haul's (table mine, view mine_too)");
  fixture_execute(fixture->path, "insert into mine select x from mine_too");
}

/* A file with SQL that a later haul may have. */
#define MIGRATION(version, sql)                                                                    \
  {                                                                                                \
    "migrations/" version, (const unsigned char *)(sql),                                           \
        (const unsigned char *)(sql) + strlen(sql)                                                 \
  }

/* Migrates to a made-up schema 1.999, later than any; afterwards the database has that version. */
static enum status migrate_made_up(const struct fixture *fixture, const char *last, int version) {
  const struct embedded_file files[] = {
      MIGRATION("1002_first", "never run"),
      MIGRATION("1998_mood", "ALTER TABLE run ADD COLUMN mood TEXT; PRAGMA user_version = 1998;"),
      MIGRATION("1999_last", last),
  };
  struct error err = {0};
  struct database *database = fixture_open(fixture, DATABASE_WRITE);
  enum status status = migrate_run_files(database, files, 3, &err);
  if (status != STATUS_OK) {
    assert_contains(err.message, "setting up the results database");
  }
  database_close(database);
  database = fixture_open(fixture, DATABASE_READ);
  assert_int_equal(database->version, version);
  database_close(database);
  return status;
}

#define RATES                                                                                      \
  "select group_concat(rate) from (select case_name || gbps as rate from v_case order by "         \
  "case_run)"

FIXTURE_TEST(migrations_are_applied_all_or_none) {
  const int before_it = migrate_latest_version();
  const struct {
    const char *last;
    int version;
    enum status status;
  } LAST[] = {
      {"CREATE TABLE later (x); nonsense", before_it, STATUS_DATABASE},
      {"DELETE FROM scenario; PRAGMA user_version = 1999;", before_it, STATUS_CORRUPT},
      {"CREATE TABLE later (x); PRAGMA user_version = 1999;", 1999, STATUS_OK},
  };
  fixture_load(fixture, "results-1002.sql");
  SCOPED(memory_free) char *before = fixture_query(fixture, RATES);
  for (size_t i = 0; i < COUNT_OF(LAST); i++) {
    assert_int_equal(migrate_made_up(fixture, LAST[i].last, LAST[i].version), LAST[i].status);
    assert_query(fixture, RATES, before);
    assert_query(fixture,
                 "select (select count(*) from sqlite_master where name = 'later') + "
                 "(select count(*) from pragma_table_info('run') where name = 'mood')",
                 LAST[i].status == STATUS_OK ? "2" : "0");
  }
}

/* Somebody's own choice, on a local file system. */
FIXTURE_TEST(write_ahead_mode_is_kept) {
  fixture_record_run(fixture, 1);
  fixture_execute(fixture->path, "pragma journal_mode = wal");
  fixture_record_run(fixture, 1);
  assert_opens(fixture->path, DATABASE_READ);
  assert_query(fixture, "pragma journal_mode", "wal");
  assert_query(fixture, "select count(*) from run", "2");
}

FIXTURE_TEST(lock_held_too_long_is_reported) {
  sqlite3 *other = NULL;
  database_close(fixture_open(fixture, DATABASE_WRITE));
  assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "begin exclusive", NULL, NULL, NULL), SQLITE_OK);
  assert_refused(fixture->path, DATABASE_WRITE, STATUS_TIMEOUT, "keeps it locked");
  assert_int_equal(sqlite3_exec(other, "rollback", NULL, NULL, NULL), SQLITE_OK);
  assert_opens(fixture->path, DATABASE_WRITE);
  assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

struct patience {
  sqlite3 *other; /* holds the lock */
  unsigned asked, until;
  bool release; /* at the end, or else give up */
};

static bool wait_until(void *context, uint64_t waited_ms) {
  struct patience *patience = context;
  assert_in_range(waited_ms, 0, 60000);
  if (++patience->asked < patience->until) {
    return true;
  }
  if (patience->release) {
    assert_int_equal(sqlite3_exec(patience->other, "rollback", NULL, NULL, NULL), SQLITE_OK);
  }
  return patience->release;
}

FIXTURE_TEST(lock_wait_is_decided_by_caller) {
  struct database *database = fixture_open(fixture, DATABASE_WRITE);
  struct patience patience = {.until = 5};
  assert_int_equal(sqlite3_open(fixture->path, &patience.other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(patience.other, "begin exclusive", NULL, NULL, NULL), SQLITE_OK);
  database_when_locked(database, wait_until, &patience);
  assert_int_equal(database_begin(database, err), STATUS_TIMEOUT);
  assert_int_equal(patience.asked, 5);

  patience = (struct patience){.other = patience.other, .until = 3, .release = true};
  assert_ok(database_begin(database, err), err);
  assert_int_equal(patience.asked, 3);
  database_rollback(database);
  database_close(database);
  assert_int_equal(sqlite3_close(patience.other), SQLITE_OK);
}

static int64_t clock_lag_ns(const struct fixture *fixture) {
  SCOPED(record_close_at) struct record *record = NULL;
  struct error err = {0};
  int64_t lag_ns = -1;
  assert_ok(record_open(fixture->path, &record, &err), &err);
  assert_ok(record_clock_lag(record, &lag_ns, &err), &err);
  return lag_ns;
}

FIXTURE_TEST(clock_set_back_is_noticed) {
  assert_int_equal(clock_lag_ns(fixture), 0); /* no run at all */
  fixture_record_run(fixture, 1);
  assert_int_equal(clock_lag_ns(fixture), 0);
  fixture_execute(fixture->path, "update run set started_at_ns = started_at_ns + 3600000000000");
  assert_in_range(clock_lag_ns(fixture), INT64_C(3000000000000), INT64_C(3600000000000));
}

/* Rights do not bind root: look as somebody else. */
static void as_nobody(void (*look)(struct fixture *fixture), struct fixture *fixture) {
  pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
      _exit(3);
    }
    look(fixture);
    _exit(0);
  }
  int result = 0;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_int_equal(result, 0);
}

/* assert_refused() in a child: a failed assertion cannot jump back. */
static void must_refuse(const char *path, enum database_access access, enum status expected,
                        const char *words) {
  struct database *database = NULL;
  struct error err = {0};
  enum status status = database_open_waiting(path, access, SHORT_WAIT_MS, &database, &err);
  if (status != expected || strstr(err.message, words) == NULL) {
    fprintf(stderr, "%s: %s, %s\n", path, status_text(status), err.message);
    _exit(1);
  }
}

static void look_at_unreadable(struct fixture *fixture) {
  must_refuse(fixture->path, DATABASE_READ, STATUS_DENIED, "cannot read");
  must_refuse(fixture->path, DATABASE_WRITE, STATUS_DENIED, "cannot read");
}

static void look_at_read_only(struct fixture *fixture) {
  must_refuse(fixture->path, DATABASE_WRITE, STATUS_DENIED, "cannot write");
  database_close(fixture_open(fixture, DATABASE_READ));
}

static void look_at_read_only_folder(struct fixture *fixture) {
  must_refuse(fixture->path, DATABASE_WRITE, STATUS_DENIED, "needs a journal beside");
}

static void look_at_unwritable_folder(struct fixture *fixture) {
  PRINTED(path, 160, "%s/sub/results.db", fixture->folder);
  must_refuse(path, DATABASE_WRITE, STATUS_DENIED, "cannot create the directory");
}

FIXTURE_TEST(missing_permissions_are_reported) {
  fixture_record_run(fixture, 1);
  assert_int_equal(chmod(fixture->folder, 0777), 0);
  assert_int_equal(chmod(fixture->path, 0), 0);
  as_nobody(look_at_unreadable, fixture);
  assert_int_equal(chmod(fixture->path, 0444), 0);
  as_nobody(look_at_read_only, fixture);
  assert_int_equal(chmod(fixture->path, 0666), 0);
  assert_int_equal(chmod(fixture->folder, 0555), 0);
  as_nobody(look_at_read_only_folder, fixture);
  as_nobody(look_at_unwritable_folder, fixture);
  assert_int_equal(chmod(fixture->folder, 0755), 0);
}

/* As a database of somebody else may name them. */
FIXTURE_TEST(links_between_gpus_that_are_not_there_are_left_out) {
  fixture_record_run(fixture, 1);
  struct machine *read[2];
  for (size_t i = 0; i < 2; i++) {
    struct database *database = fixture_open(fixture, DATABASE_READ);
    read[i] = memory_new(1, sizeof *read[i]);
    assert_ok(run_machine_read(database, 1, read[i], err), err);
    database_close(database);
    fixture_execute(fixture->path,
                    "INSERT OR IGNORE INTO link (environment, place, source, target, nvlink_count) "
                    "VALUES (1, 'gpu', -1, 40, 7), (1, 'gpu', 0, 5, 7), (1, 'gpu', 5, 0, 7)");
  }
  assert_memory_equal(read[0], read[1], sizeof *read[0]);
  free(read[0]);
  free(read[1]);
}
