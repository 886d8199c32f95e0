#include "engine/base/input_file.h"
#include "engine/base/new_file.h"
#include "tests/cmocka.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[FOLDER_PATH_MAX];

static int make_folder(void **state) {
  folder_make(folder);
  return chdir(folder);
}

static int remove_folder(void **state) {
  folder_remove(folder);
  return chdir("/");
}

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static const char *get(const char *path) {
  static char text[64];
  FILE *file = fopen(path, "re");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  return text;
}

static unsigned count_files(void) {
  unsigned count = 0;
  DIR *entries = opendir(".");
  for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  }
  (void)closedir(entries);
  return count;
}

static enum status write_new(const char *path, const char *text, bool replaces) {
  struct new_file file;
  struct error err = {0};
  const enum status status = new_file_open(path, &file, &err);
  if (status != STATUS_OK) {
    return status;
  }
  assert_int_equal(write(file.fd, text, strlen(text)), (ssize_t)strlen(text));
  return new_file_place(&file, replaces, &err);
}

TEST_WITH(a_new_file_has_its_name_when_it_is_whole, make_folder, remove_folder) {
  struct new_file file;
  struct stat info;
  (void)umask(022);
  assert_ok(new_file_open("a", &file, err), err);
  assert_int_equal(access("a", F_OK), -1);
  assert_ok(new_file_place(&file, false, err), err);
  assert_int_equal(stat("a", &info), 0);
  assert_int_equal(info.st_mode & 0777, 0644);
  assert_ok(new_file_open("b", &file, err), err);
  new_file_drop(&file);
  assert_int_equal(count_files(), 1);
}

TEST_WITH(what_is_there_is_replaced_only_where_that_is_meant, make_folder, remove_folder) {
  put("victim", "precious");
  assert_int_equal(symlink("victim", "link"), 0);
  assert_int_equal(write_new("link", "new", false), STATUS_IO);
  assert_int_equal(write_new("victim", "new", false), STATUS_IO);
  assert_string_equal(get("victim"), "precious");
  assert_int_equal(write_new("link", "new", true), STATUS_OK);
  assert_string_equal(get("link"), "new");
  assert_string_equal(get("victim"), "precious");
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(write_new("fifo", "new", true), STATUS_OK);
  assert_string_equal(get("fifo"), "new");
  assert_int_equal(count_files(), 3);
  assert_int_equal(write_new("no/such", "new", true), STATUS_NOT_FOUND);
  assert_int_equal(write_new("no/", "new", true), STATUS_INVALID);
}

TEST_WITH(what_killed_programs_left_is_removed, make_folder, remove_folder) {
  put(".shard.db.0123456789abcdef", "killed before it had its name");
  put(".shard.db.fedcba9876543210", "being written");
  put(".shard.db.0123456789ABCDEF", "somebody's");
  put(".other.db.0123456789abcdef", "of another file");
  const int held = open(".shard.db.fedcba9876543210", O_RDONLY | O_CLOEXEC);
  assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
  new_file_clear("shard.db");
  assert_int_equal(close(held), 0);
  assert_int_equal(access(".shard.db.0123456789abcdef", F_OK), -1);
  assert_int_equal(count_files(), 3);
}

static enum status open_input(const char *path, bool piped) {
  int fd = -1;
  const enum status status = input_file_open(path, piped, &fd, NULL);
  if (status == STATUS_OK) {
    (void)close(fd);
  }
  return status;
}

TEST_WITH(only_files_are_read, make_folder, remove_folder) {
  put("file", "SQLite");
  assert_int_equal(mkfifo("fifo", 0600), 0);
  assert_int_equal(open_input("file", false), STATUS_OK);
  assert_int_equal(open_input("/dev/null", false), STATUS_OK);
  assert_int_equal(open_input("/dev/zero", true), STATUS_INVALID);
  assert_int_equal(open_input(".", true), STATUS_INVALID);
  assert_int_equal(open_input("fifo", true), STATUS_INVALID);
  assert_int_equal(open_input("none", true), STATUS_NOT_FOUND);
  assert_true(input_file_begins("file", "SQL", 3));
  assert_false(input_file_begins("file", "SQLite3", 7));
  assert_false(input_file_begins("fifo", "S", 1));
}

TEST_WITH(a_pipe_that_is_held_is_read_where_the_user_named_it, make_folder, remove_folder) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  PRINTED(path, 32, "/dev/fd/%d", ends[0]);
  assert_int_equal(open_input(path, true), STATUS_OK);
  assert_int_equal(open_input(path, false), STATUS_INVALID);
  (void)close(ends[0]);
  (void)close(ends[1]);
}
