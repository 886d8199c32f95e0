/* bench_merge.c [FOLDER [DATABASES]] - small databases (default 1,000, one run of two processes
 * each) merged into one, and then once more, in FOLDER (default: the current one): seconds,
 * databases a second, and the most memory that was in use. */
#include "runner/record/merge.h"
#include "tests/runner/record/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The fixture is no library of the program's. */
#include "tests/runner/record/fixture.c"

static double now_s(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void input_path(char path[96], const char *folder, int i) {
  (void)snprintf(path, 96, "%.60s/bench-merge-%ld-%04d.db", folder, (long)getpid(), i);
}

static void merge_all(const char *folder, const char *output, int count, const char *what) {
  struct merge *merge = merge_new(output, NULL);
  int64_t added = 0;
  double start_s = now_s();
  for (int i = 0; i < count; i++) {
    char path[96];
    struct merge_result result = {0};
    struct error err = {0};
    bool fatal = false;
    input_path(path, folder, i);
    must(merge_add(merge, path, &result, &fatal, &err) == STATUS_OK, err.message);
    added += result.added;
  }
  double seconds = now_s() - start_s;
  merge_free(merge);
  struct rusage usage;
  (void)getrusage(RUSAGE_SELF, &usage);
  printf(
      "%-10s %d databases, %lld runs added: %.2f s, %.0f databases/s, at most %.1f MB of memory\n",
      what, count, (long long)added, seconds, count / seconds, (double)usage.ru_maxrss / 1e3);
}

int main(int argc, char **argv) {
  const char *folder = argc > 1 ? argv[1] : ".";
  const int count = argc > 2 ? atoi(argv[2]) : 1000;
  struct fixture *fixture = fixture_new();
  double start_s = now_s();
  for (int i = 0; i < count; i++) {
    input_path(fixture->path, folder, i);
    fixture_record_run(fixture, 2);
  }
  printf("%-10s %d databases: %.2f s\n", "recorded", count, now_s() - start_s);
  char output[96];
  (void)snprintf(output, sizeof output, "%.60s/bench-merge-%ld.db", folder, (long)getpid());
  merge_all(folder, output, count, "merged");
  merge_all(folder, output, count, "again");
  for (int i = 0; i < count; i++) {
    char path[96];
    input_path(path, folder, i);
    (void)unlink(path);
  }
  (void)unlink(output);
  fixture_free(fixture);
  return 0;
}
