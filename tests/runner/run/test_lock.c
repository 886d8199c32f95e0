/* Locks between descriptions of open files, which is how two processes hold them, and after the end
 * of a process. */
#include "runner/run/lock.h"

#include "tests/cmocka.h"

#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[FOLDER_PATH_MAX];

static int set_up(void **state) {
  folder_make(folder);
  return 0;
}

static int tear_down(void **state) {
  folder_remove(folder);
  return 0;
}

TEST_GROUP(set_up, tear_down);

static struct lock *must_open(const char *name) {
  struct lock *lock = NULL;
  struct error err;
  assert_ok(lock_open(folder, name, &lock, &err), &err);
  return lock;
}

static struct lock_user user_with(bool shared, bool beside) {
  struct lock_user user;
  lock_user_init(&user, "/data/results of today.db");
  user.shared = shared;
  user.beside = beside;
  return user;
}

TEST(exclusive_locks_exclude_and_tell_by_whom) {
  const struct lock_user self = user_with(false, false);
  const struct lock_user kind = user_with(true, false);
  struct lock_user other = {0};
  struct lock *a = must_open("gpu-x");
  struct lock *b = must_open("gpu-x");
  assert_true(lock_take(a, &self, &other));
  lock_name_run(a, "01a200d8877e7a5cb9f985842ab98b06");
  assert_false(lock_take(b, &self, &other));
  assert_int_equal(other.pid, getpid());
  assert_string_equal(other.user, self.user);
  assert_string_equal(other.since, self.since);
  assert_string_equal(other.run, "01a200d8877e7a5cb9f985842ab98b06");
  assert_string_equal(other.database, "/data/results of today.db");
  assert_false(lock_take(b, &kind, &other));
  lock_close(a, false);
  assert_true(lock_take(b, &kind, &other));
  struct lock *c = must_open("gpu-x");
  assert_true(lock_take(c, &kind, &other));
  assert_int_equal(lock_count_others(c, &other), 0); /* they go together */
  struct lock *d = must_open("gpu-y");
  assert_true(lock_take(d, &self, NULL));
  lock_close(b, false);
  lock_close(c, false);
  lock_close(d, false);
}

TEST(who_is_beside_is_waited_for_and_noticed) {
  const struct lock_user self = user_with(false, false);
  const struct lock_user beside = user_with(false, true);
  struct lock_user other = {0};
  int visitor = 0;
  struct lock *a = must_open("host");
  struct lock *b = must_open("host");
  assert_true(lock_take(a, &self, &other));
  assert_int_equal(lock_count_others(a, &other), 0);
  const uint64_t visits = lock_count_visits(a, &visitor);
  assert_true(lock_take(b, &beside, &other));
  assert_int_equal(lock_count_others(a, &other), 1);
  assert_true(other.beside);
  assert_int_equal(lock_count_others(b, &other), 1);
  lock_close(a, false);
  a = must_open("host");
  assert_false(lock_take(a, &self, &other));
  lock_close(b, false);
  assert_true(lock_take(a, &self, &other));
  assert_int_equal(lock_count_visits(a, &visitor), visits + 1);
  assert_int_equal(visitor, getpid());
  lock_close(a, false);
}

TEST(a_lock_ends_with_its_holder) {
  const struct lock_user self = user_with(false, false);
  struct lock_user other = {0};
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    struct lock *held = NULL;
    const bool good = lock_open(folder, "run", &held, NULL) == STATUS_OK &&
                      lock_take(held, &self, NULL) && write(ready[1], "", 1) == 1;
    (void)pause();
    _exit(good);
  }
  char byte;
  assert_int_equal(read(ready[0], &byte, 1), 1);
  struct lock *lock = must_open("run");
  assert_false(lock_take(lock, &self, &other));
  (void)kill(child, SIGKILL);
  (void)waitpid(child, NULL, 0);
  assert_true(lock_take(lock, &self, &other));
  lock_close(lock, true);
  PRINTED(path, 128, "%s/run", folder);
  assert_int_not_equal(access(path, F_OK), 0);
  (void)close(ready[0]);
  (void)close(ready[1]);
}

/* Whoever waited with the file open while its owner removed it locks the one that is there now. */
TEST(a_removed_file_locks_nothing) {
  const struct lock_user self = user_with(false, false);
  struct lock *first = must_open("run");
  struct lock *second = must_open("run");
  assert_true(lock_take(first, &self, NULL));
  lock_close(first, true);
  assert_true(lock_take(second, &self, NULL));
  struct lock *third = must_open("run");
  assert_false(lock_take(third, &self, NULL));
  lock_close(second, true);
  lock_close(third, false);
}

TEST(files_of_killed_runs_are_swept) {
  const struct lock_user self = user_with(false, false);
  PRINTED(held, 128, "%s/run-held", folder);
  PRINTED(left, 128, "%s/run-left", folder);
  struct lock *lock = must_open("run-held");
  assert_true(lock_take(lock, &self, NULL));
  lock_close(must_open("run-left"), false); /* as a killed process leaves it */
  assert_true(lock_is_used(folder, "run-held"));
  assert_false(lock_is_used(folder, "run-left"));
  lock_sweep(folder, "run-");
  assert_int_equal(access(held, F_OK), 0);
  assert_int_not_equal(access(left, F_OK), 0);
  lock_close(lock, true);
}

TEST(the_folder_is_for_everybody_and_nothing_but_files_is_taken) {
  char found[LOCK_PATH_MAX];
  struct stat status;
  struct lock *lock = NULL;
  PRINTED(made, 128, "%s/locks", folder);
  assert_ok(lock_find_folder(made, found, err), err);
  assert_string_equal(found, made);
  assert_int_equal(stat(made, &status), 0);
  assert_int_equal(status.st_mode & 07777, 01777);
  assert_int_not_equal(lock_find_folder("/proc/none", found, err), STATUS_OK);
  assert_contains(err->message, "/proc/none");
  PRINTED(path, 256, "%s/link", made);
  assert_int_equal(symlink("/dev/null", path), 0);
  assert_int_not_equal(lock_open(made, "link", &lock, err), STATUS_OK);
  (void)snprintf(path, sizeof path, "%s/pipe", made);
  assert_int_equal(mkfifo(path, 0666), 0);
  assert_int_equal(lock_open(made, "pipe", &lock, err), STATUS_UNSUPPORTED);
  lock_close(NULL, true);
}
