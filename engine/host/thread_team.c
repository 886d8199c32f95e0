#include "engine/host/thread_team.h"

#include "engine/base/clock.h"
#include "engine/base/macros.h"
#include "engine/host/cache.h"
#include "engine/machine/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Spins before a waiting thread offers its processor. Others of the team may be kept from arriving
 * by somebody else's work on this processor. */
enum { SPINS_BEFORE_YIELD = 4096, CACHE_LINE_MAX = 128 };

struct thread_team_thread {
  _Alignas(CACHE_LINE_MAX) struct thread_team *team;
  pthread_t thread;
  uint32_t index;
  int cpu;
  uint64_t start_ns;
  uint64_t end_ns;
};

struct thread_team {
  _Alignas(CACHE_LINE_MAX) _Atomic uint32_t job; /* futex: goes up by one per job */
  bool quit;
  thread_team_work work;
  void *context;
  uint32_t iterations;
  struct host_start *start;
  struct host_start own_start;
  _Alignas(CACHE_LINE_MAX) _Atomic uint32_t working; /* futex: threads that have not ended */
  uint32_t count;
  struct thread_team_thread threads[];
};

static void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* yield is a no-op on most cores; isb does wait */
#elif defined(__powerpc64__)
  __asm__ volatile("or 27,27,27" ::: "memory");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t while_value) {
  (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
}

static void futex_wake_all(_Atomic uint32_t *word) {
  (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* expected does not change while threads wait. */
static bool has_started(struct host_start *start) {
  return atomic_load_explicit(&start->go, memory_order_acquire) ||
         (start->expected != 0 &&
          atomic_load_explicit(&start->ready, memory_order_acquire) >= start->expected);
}

static void wait_for_start(struct host_start *start) {
  atomic_fetch_add_explicit(&start->ready, 1, memory_order_acq_rel);
  for (uint32_t spins = 0; !has_started(start); spins++) {
    pause_processor();
    if (spins >= SPINS_BEFORE_YIELD && spins % 64 == 0) {
      (void)sched_yield();
    }
  }
}

static void *run_thread(void *argument) {
  struct thread_team_thread *self = argument;
  struct thread_team *team = self->team;
  uint32_t seen = 0;
  for (;;) {
    uint32_t job = atomic_load_explicit(&team->job, memory_order_acquire);
    if (job == seen) {
      futex_wait(&team->job, seen);
      continue;
    }
    seen = job;
    if (team->quit) {
      return NULL;
    }
    /* Brings the clock's code and data in before it counts. */
    self->start_ns = clock_now_ns();
    wait_for_start(team->start);
    self->start_ns = clock_now_ns();
    team->work(team->context, self->index, team->count, team->iterations);
    self->end_ns = clock_now_ns();
    if (atomic_fetch_sub_explicit(&team->working, 1, memory_order_acq_rel) == 1) {
      futex_wake_all(&team->working);
    }
  }
}

static bool is_taken(const struct cpu_reservation *reservation, int cpu) {
  return (reservation->taken.bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

/* Real nodes past MACHINE_NODES_MAX share a counter with another: a smaller share, nothing worse.
 */
static size_t node_slot(const struct machine *machine, int32_t node) {
  int real = 0;
  enum status status = numa_real_node(machine, node, &real, NULL);
  return status == STATUS_OK ? (size_t)real % MACHINE_NODES_MAX : 0;
}

void cpu_reservation_expect(struct cpu_reservation *reservation, const struct machine *machine,
                            int32_t node, uint32_t thread_count) {
  size_t slot = node_slot(machine, node);
  if (thread_count == 0) {
    reservation->sharing[slot]++;
  } else {
    reservation->wanted[slot] += thread_count;
  }
}

/* Picks processors for a team; count is 0 on error. */
static enum status reserve_cpus(const struct machine *machine, int32_t node, uint32_t thread_count,
                                struct cpu_reservation *reservation, int cpus[NUMA_CPUS_MAX],
                                uint32_t *count, struct error *err) {
  *count = 0;
  int real = 0;
  RETURN_ON_ERROR(numa_real_node(machine, node, &real, err));
  size_t total = numa_node_cpus(machine, node, cpus, NUMA_CPUS_MAX);
  if (total == 0) {
    return error_set(err, STATUS_INVALID,
                     "NUMA node %" PRId32 " has no processor that this process may use: its "
                     "affinity or cgroup (taskset, numactl, cpuset) leaves none of the node's, or "
                     "/sys is not mounted",
                     node);
  }
  size_t slot = node_slot(machine, node);
  size_t available = 0;
  for (size_t i = 0; i < total; i++) {
    /* On a simulated machine a processor may serve many. */
    if (machine->simulated || !is_taken(reservation, cpus[i])) {
      cpus[available++] = cpus[i];
    }
  }
  size_t wanted = thread_count;
  if (thread_count == 0) {
    size_t others = reservation->wanted[slot];
    size_t sharers = reservation->sharing[slot] > 0 ? reservation->sharing[slot] : 1;
    wanted = (available > others ? available - others : 0) / sharers;
    wanted = wanted == 0 ? 1 : wanted;
    reservation->sharing[slot] -= reservation->sharing[slot] > 0;
  } else {
    reservation->wanted[slot] -=
        reservation->wanted[slot] < thread_count ? reservation->wanted[slot] : thread_count;
  }
  if (machine->simulated) {
    wanted = wanted < NUMA_CPUS_MAX ? wanted : NUMA_CPUS_MAX;
    for (size_t i = available; i < wanted; i++) {
      cpus[i] = cpus[i % available];
    }
  } else if (wanted > available) {
    return error_set(err, STATUS_INVALID,
                     "%zu host threads are wanted on NUMA node %" PRId32
                     ", which has %zu processors, %zu of them free",
                     wanted, node, total, available);
  }
  for (size_t i = 0; i < wanted; i++) {
    reservation->taken.bits[cpus[i] / 64] |= UINT64_C(1) << (cpus[i] % 64);
  }
  *count = (uint32_t)wanted;
  return STATUS_OK;
}

/* Returns an errno value, 0 = started. */
static int start_thread(struct thread_team_thread *thread) {
  cpu_set_t *set = CPU_ALLOC(NUMA_CPUS_MAX);
  if (set == NULL) {
    return ENOMEM;
  }
  const size_t set_size = CPU_ALLOC_SIZE(NUMA_CPUS_MAX);
  CPU_ZERO_S(set_size, set);
  CPU_SET_S((size_t)thread->cpu, set_size, set);
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result == 0) {
    result = pthread_attr_setaffinity_np(&attributes, set_size, set);
    if (result == 0) {
      result = pthread_create(&thread->thread, &attributes, run_thread, thread);
    }
    (void)pthread_attr_destroy(&attributes);
  }
  CPU_FREE(set);
  return result;
}

enum status thread_team_new(const struct machine *machine, int32_t node, uint32_t thread_count,
                            struct cpu_reservation *reservation, struct thread_team **team,
                            struct error *err) {
  struct cpu_reservation alone = {0};
  int cpus[NUMA_CPUS_MAX];
  uint32_t count = 0;
  enum status status = reserve_cpus(machine, node, thread_count,
                                    reservation != NULL ? reservation : &alone, cpus, &count, err);
  RETURN_ON_ERROR(status);
  size_t size = sizeof(struct thread_team) + count * sizeof(struct thread_team_thread);
  struct thread_team *made = aligned_alloc(CACHE_LINE_MAX, size);
  if (made == NULL) {
    return error_set(err, STATUS_NO_MEMORY, "out of host memory");
  }
  memset(made, 0, size);
  /* Signals are for the process's own thread, but for those that a thread's own fault raises. */
  sigset_t blocked;
  sigset_t before;
  (void)sigfillset(&blocked);
  static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < COUNT_OF(own_faults); i++) {
    (void)sigdelset(&blocked, own_faults[i]);
  }
  (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
  for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
    made->threads[i] = (struct thread_team_thread){.team = made, .index = i, .cpu = cpus[i]};
    int result = start_thread(&made->threads[i]);
    if (result != 0) {
      status = error_set_errno(err, result, "cannot start a host thread on processor %d", cpus[i]);
    } else {
      made->count = i + 1;
      char name[16];
      (void)snprintf(name, sizeof name, "haul-cpu-%d", cpus[i]);
      (void)pthread_setname_np(made->threads[i].thread, name);
    }
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (status != STATUS_OK) {
    thread_team_free(made);
    return status;
  }
  *team = made;
  return STATUS_OK;
}

void thread_team_free(struct thread_team *team) {
  if (team == NULL) {
    return;
  }
  team->quit = true;
  atomic_fetch_add_explicit(&team->job, 1, memory_order_release);
  futex_wake_all(&team->job);
  for (uint32_t i = 0; i < team->count; i++) {
    (void)pthread_join(team->threads[i].thread, NULL);
  }
  free(team);
}

uint32_t thread_team_size(const struct thread_team *team) {
  return team->count;
}

int thread_team_cpu(const struct thread_team *team, uint32_t thread) {
  return team->threads[thread].cpu;
}

uint64_t thread_team_cache_bytes(const struct thread_team *team) {
  int *cpus = calloc(team->count, sizeof *cpus);
  if (cpus == NULL) {
    return 0;
  }
  for (uint32_t i = 0; i < team->count; i++) {
    cpus[i] = team->threads[i].cpu;
  }
  const uint64_t bytes = cache_last_level_bytes(cpus, team->count);
  free(cpus);
  return bytes;
}

void thread_team_start(struct thread_team *team, thread_team_work work, void *context,
                       uint32_t iterations, struct host_start *start) {
  team->work = work;
  team->context = context;
  team->iterations = iterations;
  team->own_start = (struct host_start){.expected = team->count};
  team->start = start != NULL ? start : &team->own_start;
  atomic_store_explicit(&team->working, team->count, memory_order_relaxed);
  atomic_fetch_add_explicit(&team->job, 1, memory_order_release);
  futex_wake_all(&team->job);
}

void thread_team_wait(struct thread_team *team, uint64_t *start_ns, uint64_t *end_ns) {
  for (;;) {
    uint32_t working = atomic_load_explicit(&team->working, memory_order_acquire);
    if (working == 0) {
      break;
    }
    futex_wait(&team->working, working);
  }
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (uint32_t i = 0; i < team->count; i++) {
    first = team->threads[i].start_ns < first ? team->threads[i].start_ns : first;
    last = team->threads[i].end_ns > last ? team->threads[i].end_ns : last;
  }
  if (start_ns != NULL) {
    *start_ns = first;
  }
  if (end_ns != NULL) {
    *end_ns = last;
  }
}
