/* Rates of the host copy loops by size, one team on node 0: the measurements behind the rule of
 * engine/host/copy.h. Run by hand: bench_host_copy [THREADS]. GB/s of payload, median of trials; 0:
 * not on this processor. */
#include "engine/host/cache.h"
#include "engine/host/copy.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { TRIALS = 21, LOOPS_MAX = 8 };
static const uint64_t TRIAL_BYTES = UINT64_C(256) << 20;

struct job {
  const struct host_copy *loop;
  unsigned char *target;
  const unsigned char *source;
  uint64_t size_bytes;
};

static void work(void *context, uint32_t thread, uint32_t thread_count, uint32_t iterations) {
  const struct job *job = context;
  uint64_t begin = job->size_bytes / 4096 * thread / thread_count * 4096;
  uint64_t end = job->size_bytes / 4096 * (thread + 1) / thread_count * 4096;
  for (uint32_t i = 0; i < iterations; i++) {
    job->loop->copy(job->target + begin, job->source + begin, end - begin);
  }
}

static int compare_times(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a;
  uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Median time of every loop that this processor has; the loops take turns, so that a change of the
 * machine's load meets them all. */
static void measure(struct thread_team *team, struct job *job, uint32_t iterations,
                    uint64_t *medians) {
  static uint64_t times[LOOPS_MAX][TRIALS];
  for (int trial = -1; trial < TRIALS; trial++) {
    for (size_t i = 0; i < host_copies_count; i++) {
      uint64_t start = 0;
      uint64_t end = 0;
      job->loop = &host_copies[i];
      if (job->loop->supported()) {
        thread_team_start(team, work, job, iterations, NULL);
        thread_team_wait(team, &start, &end);
      }
      times[i][trial < 0 ? 0 : trial] = end - start;
    }
  }
  for (size_t i = 0; i < host_copies_count; i++) {
    qsort(times[i], TRIALS, sizeof *times[i], compare_times);
    medians[i] = times[i][TRIALS / 2];
  }
}

static unsigned char *pages(const struct machine *machine, uint64_t size_bytes, bool huge) {
  unsigned char *address =
      mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct error err;
  if (address == MAP_FAILED ||
      madvise(address, size_bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE)) {
    perror("mmap");
    exit(1);
  }
  if (numa_touch_memory(machine, address, size_bytes, 4096, 0, &err) != STATUS_OK) {
    (void)fprintf(stderr, "%s\n", err.message);
    exit(1);
  }
  return address;
}

int main(int argc, char **argv) {
  static struct machine machine = {.node_count = 1};
  const uint64_t largest = UINT64_C(512) << 20;
  struct thread_team *team = NULL;
  struct error err;
  if (thread_team_new(&machine, 0, argc > 1 ? (uint32_t)atoi(argv[1]) : 0, NULL, &team, &err) !=
      STATUS_OK) {
    (void)fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  int *cpus = calloc(thread_team_size(team), sizeof *cpus);
  for (uint32_t i = 0; cpus != NULL && i < thread_team_size(team); i++) {
    cpus[i] = thread_team_cpu(team, i);
  }
  uint64_t cache_bytes = cpus != NULL ? cache_last_level_bytes(cpus, thread_team_size(team)) : 0;
  free(cpus);
  for (int huge = 0; huge < 2; huge++) {
    unsigned char *source = pages(&machine, largest, huge);
    unsigned char *target = pages(&machine, largest, huge);
    (void)printf("%u threads, last-level cache %" PRIu64 " MiB, %s pages, GB/s\n%10s",
                 thread_team_size(team), cache_bytes >> 20, huge ? "2 MiB" : "4 KiB", "size");
    for (size_t i = 0; i < host_copies_count; i++) {
      (void)printf(" %14s", host_copies[i].name);
    }
    (void)printf(" %14s\n", "rule");
    for (uint64_t size = UINT64_C(64) << 10; size <= largest; size *= 2) {
      (void)printf("%7" PRIu64 "KiB", size >> 10);
      struct job job = {NULL, target, source, size};
      uint32_t iterations = (uint32_t)(size < TRIAL_BYTES ? TRIAL_BYTES / size : 1);
      uint64_t medians[LOOPS_MAX];
      measure(team, &job, iterations, medians);
      for (size_t i = 0; i < host_copies_count; i++) {
        double bytes = (double)size * iterations;
        (void)printf(" %14.2f", medians[i] > 0 ? bytes / (double)medians[i] : 0.0);
      }
      (void)printf(" %14s\n", host_copy_choose(false, 2 * size, cache_bytes)->name);
    }
    (void)munmap(source, largest);
    (void)munmap(target, largest);
  }
  thread_team_free(team);
  return 0;
}
