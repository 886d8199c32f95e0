#include "engine/base/clock.h"
#include "engine/host/thread_team.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

#include <pthread.h>
#include <sched.h>

RELEASE(thread_team_free, struct thread_team)

static struct machine real = {.node_count = 1};
static struct machine simulated = {
    .simulated = true, .node_count = 2, .nodes = {{.number = 0}, {.number = 1}}};

static size_t processors(void) {
  int cpus[NUMA_CPUS_MAX];
  return numa_node_cpus(&real, 0, cpus, NUMA_CPUS_MAX);
}

struct tally {
  atomic_uint calls;
  atomic_uint threads;     /* one bit per thread */
  atomic_uint wrong_place; /* calls on another processor than the team's */
  atomic_uint iterations;
  const struct thread_team *team;
};

static void count_call(void *context, uint32_t thread, uint32_t count, uint32_t iterations) {
  struct tally *tally = context;
  atomic_fetch_add(&tally->calls, 1);
  atomic_fetch_or(&tally->threads, 1U << thread % 32);
  atomic_store(&tally->iterations, iterations);
  if (tally->team != NULL && sched_getcpu() != thread_team_cpu(tally->team, thread)) {
    atomic_fetch_add(&tally->wrong_place, 1);
  }
}

TEST(every_thread_works_once_on_its_processor) {
  SCOPED(thread_team_free_at) struct thread_team *team = NULL;
  assert_ok(thread_team_new(&real, 0, 0, NULL, &team, err), err);
  assert_int_equal(thread_team_size(team), processors());
  struct tally tally = {.team = team};
  uint64_t before = clock_now_ns();
  uint64_t start = 0;
  uint64_t end = 0;
  thread_team_start(team, count_call, &tally, 7, NULL);
  thread_team_wait(team, &start, &end);
  assert_int_equal(tally.calls, thread_team_size(team));
  assert_int_equal(tally.wrong_place, 0);
  assert_int_equal(tally.iterations, 7);
  assert_true(before <= start && start <= end && end <= clock_now_ns());
}

TEST(too_many_threads_or_no_node_are_errors) {
  struct thread_team *team = NULL;
  uint32_t many = (uint32_t)processors() + 1;
  assert_int_equal(thread_team_new(&real, 0, many, NULL, &team, err), STATUS_INVALID);
  assert_null(team);
  assert_contains(err->message, "processors");
  assert_int_equal(thread_team_new(&real, 5000, 0, NULL, &team, err), STATUS_NOT_FOUND);
  thread_team_free(NULL);
}

TEST(teams_of_one_case_share_no_processor) {
  if (processors() < 2) {
    skip();
  }
  struct cpu_reservation reservation = {0};
  cpu_reservation_expect(&reservation, &real, 0, 0);
  cpu_reservation_expect(&reservation, &real, 0, 0);
  SCOPED(thread_team_free_at) struct thread_team *a = NULL;
  SCOPED(thread_team_free_at) struct thread_team *b = NULL;
  struct thread_team *c = NULL;
  assert_ok(thread_team_new(&real, 0, 0, &reservation, &a, err), err);
  assert_ok(thread_team_new(&real, 0, 0, &reservation, &b, err), err);
  assert_int_equal(thread_team_size(a), processors() / 2);
  assert_int_equal(thread_team_size(a) + thread_team_size(b), processors());
  for (uint32_t i = 0; i < thread_team_size(a); i++) {
    for (uint32_t j = 0; j < thread_team_size(b); j++) {
      assert_int_not_equal(thread_team_cpu(a, i), thread_team_cpu(b, j));
    }
  }
  assert_int_equal(thread_team_new(&real, 0, 1, &reservation, &c, err), STATUS_INVALID);
}

TEST(a_sharing_team_leaves_room_for_one_that_says_how_many) {
  if (processors() < 2) {
    skip();
  }
  struct cpu_reservation reservation = {0};
  cpu_reservation_expect(&reservation, &real, 0, 0);
  cpu_reservation_expect(&reservation, &real, 0, 1);
  SCOPED(thread_team_free_at) struct thread_team *a = NULL;
  SCOPED(thread_team_free_at) struct thread_team *b = NULL;
  assert_ok(thread_team_new(&real, 0, 0, &reservation, &a, err), err);
  assert_ok(thread_team_new(&real, 0, 1, &reservation, &b, err), err);
  assert_int_equal(thread_team_size(a), processors() - 1);
  assert_int_equal(thread_team_size(b), 1);
}

TEST(simulated_nodes_may_share_processors) {
  struct cpu_reservation reservation = {0};
  cpu_reservation_expect(&reservation, &simulated, 0, 16);
  cpu_reservation_expect(&reservation, &simulated, 1, 16);
  SCOPED(thread_team_free_at) struct thread_team *a = NULL;
  SCOPED(thread_team_free_at) struct thread_team *b = NULL;
  assert_ok(thread_team_new(&simulated, 0, 16, &reservation, &a, err), err);
  assert_ok(thread_team_new(&simulated, 1, 16, &reservation, &b, err), err);
  struct tally tally = {0};
  struct host_start start = {.expected = 32};
  thread_team_start(a, count_call, &tally, 1, &start);
  thread_team_start(b, count_call, &tally, 1, &start);
  thread_team_wait(a, NULL, NULL);
  thread_team_wait(b, NULL, NULL);
  assert_int_equal(tally.calls, 32);
}

/* Both ways to start: by the caller's go, and by the last thread to arrive. */
TEST(threads_wait_for_the_start) {
  SCOPED(thread_team_free_at) struct thread_team *team = NULL;
  assert_ok(thread_team_new(&real, 0, 1, NULL, &team, err), err);
  struct tally tally = {0};
  struct host_start start = {0};
  thread_team_start(team, count_call, &tally, 1, &start);
  while (atomic_load(&start.ready) < 1) {
    (void)sched_yield();
  }
  assert_int_equal(tally.calls, 0);
  uint64_t go_ns = clock_now_ns();
  atomic_store(&start.go, true);
  uint64_t start_ns = 0;
  thread_team_wait(team, &start_ns, NULL);
  assert_true(start_ns >= go_ns);
  assert_int_equal(tally.calls, 1);

  struct host_start held = {.expected = 2};
  thread_team_start(team, count_call, &tally, 1, &held);
  while (atomic_load(&held.ready) < 1) {
    (void)sched_yield();
  }
  assert_int_equal(tally.calls, 1);
  go_ns = clock_now_ns();
  atomic_fetch_add(&held.ready, 1);
  thread_team_wait(team, &start_ns, NULL);
  assert_true(start_ns >= go_ns);
  assert_int_equal(tally.calls, 2);
}

static void *burn(void *argument) {
  atomic_bool *stop = argument;
  while (!atomic_load_explicit(stop, memory_order_relaxed)) {
  }
  return NULL;
}

TEST(ten_thousand_jobs_under_load_all_end) {
  atomic_bool stop = false;
  pthread_t load;
  assert_int_equal(pthread_create(&load, NULL, burn, &stop), 0);
  SCOPED(thread_team_free_at) struct thread_team *team = NULL;
  assert_ok(thread_team_new(&real, 0, 0, NULL, &team, err), err);
  struct tally tally = {0};
  for (uint32_t i = 1; i <= 10000; i++) {
    struct host_start start = {.expected = thread_team_size(team)};
    thread_team_start(team, count_call, &tally, 1, i % 2 == 0 ? &start : NULL);
    thread_team_wait(team, NULL, NULL);
    assert_int_equal(tally.calls, i * thread_team_size(team));
  }
  atomic_store(&stop, true);
  (void)pthread_join(load, NULL);
}

TEST(teams_are_made_and_freed_repeatedly) {
  for (int i = 0; i < 300; i++) {
    SCOPED(thread_team_free_at) struct thread_team *team = NULL;
    struct tally tally = {0};
    assert_ok(thread_team_new(&real, 0, 0, NULL, &team, err), err);
    if (i % 3 != 0) {
      thread_team_start(team, count_call, &tally, 1, NULL);
      thread_team_wait(team, NULL, NULL);
      assert_int_equal(tally.calls, thread_team_size(team));
    }
  }
}
