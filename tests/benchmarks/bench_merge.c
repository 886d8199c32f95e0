/* bench_merge.c [FOLDER [DATABASES]] - small databases (default 1,000, one run of two processes
 * each) merged into one, and then once more, in FOLDER (default: the current one): seconds,
 * databases per second, and the most memory that was in use. */
#include "runner/record/merge.h"
#include "tests/benchmarks/bench.h"
#include "tests/runner/record/fixture.h"

#include <sys/resource.h>
#include <unistd.h>

static void require(bool good, const char *message) {
  if (!good) {
    (void)fprintf(stderr, "bench_merge: %s\n", message);
    exit(1);
  }
}

enum { PATH_BYTES = sizeof((struct fixture *)0)->path };

/* In the current folder. */
static void input_path(char path[PATH_BYTES], int i) {
  (void)snprintf(path, PATH_BYTES, "bench-merge-%ld-%04d.db", (long)getpid(), i);
}

static void merge_all(const char *output, int count, const char *what) {
  struct merge *merge = merge_new(output, NULL);
  int64_t added = 0;
  double start_s = bench_now_s();
  for (int i = 0; i < count; i++) {
    char path[PATH_BYTES];
    struct merge_result result = {0};
    struct error err = {0};
    bool fatal = false;
    input_path(path, i);
    require(merge_add(merge, path, &result, &fatal, &err) == STATUS_OK, err.message);
    added += result.added;
  }
  double seconds = bench_now_s() - start_s;
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
  require(chdir(folder) == 0, "cannot change to the folder");
  struct fixture *fixture = fixture_new();
  double start_s = bench_now_s();
  for (int i = 0; i < count; i++) {
    input_path(fixture->path, i);
    fixture_record_run(fixture, 2);
  }
  printf("%-10s %d databases: %.2f s\n", "recorded", count, bench_now_s() - start_s);
  char output[PATH_BYTES];
  (void)snprintf(output, sizeof output, "bench-merge-%ld.db", (long)getpid());
  merge_all(output, count, "merged");
  merge_all(output, count, "again");
  for (int i = 0; i < count; i++) {
    char path[PATH_BYTES];
    input_path(path, i);
    (void)unlink(path);
  }
  (void)unlink(output);
  fixture_free(fixture);
  return 0;
}
