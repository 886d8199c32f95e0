/* Error counters between cases: answers of the process that samples GPUs, and none where it hangs
 * or ended. */
#include "runner/supervise/child.h"
#include "runner/supervise/sampler.h"
#include "tests/cmocka.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Seen by parent and child alike. */
static struct shared {
  atomic_int replays; /* that GPU 1 has counted */
  atomic_bool hang;
  atomic_bool await; /* a sample of GPU 0 takes until a question waits, and this begins it: */
  atomic_bool begun;
  atomic_int answers;
  atomic_int before; /* answers when GPU 1 was sampled after that; -1: it was not */
} * shared;

static enum status counting_new(const struct machine *machine, struct telemetry **telemetry,
                                struct error *err) {
  *telemetry = NULL; /* nothing is needed */
  return STATUS_OK;
}

static bool counting_read(struct telemetry *telemetry, uint32_t gpu,
                          struct telemetry_sample *sample) {
  *sample = (struct telemetry_sample){.gpu = (int32_t)gpu};
  if (gpu == 0 && atomic_load(&shared->await)) {
    atomic_store(&shared->begun, true);
    struct pollfd question = {.fd = CHILD_FILES - 1, .events = POLLIN};
    assert_int_equal(poll(&question, 1, -1), 1);
  }
  if (gpu == 1 && atomic_exchange(&shared->await, false)) {
    atomic_store(&shared->before, atomic_load(&shared->answers));
  }
  return gpu < 2;
}

static void counting_read_errors(struct telemetry *telemetry, uint32_t gpus,
                                 struct error_counts errors[MACHINE_GPUS_MAX]) {
  while (atomic_load(&shared->hang)) {
    pause();
  }
  atomic_fetch_add(&shared->answers, 1);
  for (size_t i = 0; i < MACHINE_GPUS_MAX; i++) {
    error_counts_init(&errors[i]);
  }
  if ((gpus >> 1 & 1) != 0) {
    errors[1].values[ERROR_COUNTER_PCIE_REPLAY] = atomic_load(&shared->replays);
  }
}

static void counting_free(struct telemetry *telemetry) {}

static const struct supervise_ops counting_ops = {.telemetry_new = counting_new,
                                                  .telemetry_read = counting_read,
                                                  .telemetry_read_errors = counting_read_errors,
                                                  .telemetry_free = counting_free};

static bool gave_up; /* at the last question */

static int64_t ask(struct sampler *sampler, uint32_t gpus) {
  struct error_counts errors[MACHINE_GPUS_MAX];
  gave_up = sampler_ask(sampler, gpus, NULL, errors);
  assert_int_equal(errors[0].values[ERROR_COUNTER_PCIE_REPLAY], -1);
  return errors[1].values[ERROR_COUNTER_PCIE_REPLAY];
}

TEST(answers_are_of_now) {
  struct sampler sampler;
  sampler_start(&sampler, &counting_ops, NULL, 1000000);
  for (int i = 0; i < 100; i++) {
    atomic_store(&shared->replays, i);
    assert_int_equal(ask(&sampler, 3), i);
  }
  assert_int_equal(ask(&sampler, 1), -1);
  assert_int_equal(ask(&sampler, 0), -1);
  sampler_stop(&sampler, false);
}

static int64_t ask_before(struct sampler *sampler, uint32_t gpus) {
  struct error_counts errors[MACHINE_GPUS_MAX];
  assert_false(sampler_ask_before(sampler, gpus, errors));
  return errors[1].values[ERROR_COUNTER_PCIE_REPLAY];
}

TEST(an_answer_does_not_wait_for_all_samples) {
  struct sampler sampler;
  atomic_store(&shared->before, -1);
  atomic_store(&shared->answers, 0);
  atomic_store(&shared->await, true);
  sampler_start(&sampler, &counting_ops, NULL, 1000000);
  while (!atomic_load(&shared->begun)) {
    usleep(100);
  }
  (void)ask(&sampler, 3);
  while (atomic_load(&shared->before) < 0) {
    usleep(100);
  }
  assert_int_equal(atomic_load(&shared->before), 1);
  sampler_stop(&sampler, false);
}

TEST(between_two_cases_nobody_is_asked_twice) {
  struct sampler sampler;
  sampler_start(&sampler, &counting_ops, NULL, 0);
  atomic_store(&shared->replays, 7);
  assert_int_equal(ask_before(&sampler, 2), 7); /* there was no case before */
  assert_int_equal(sampler.asked, 1);
  atomic_store(&shared->replays, 8);
  assert_int_equal(ask(&sampler, 2), 8);
  sampler.known_ns[1] += 3600000000000; /* however slow this host is */
  atomic_store(&shared->replays, 9);
  assert_int_equal(ask_before(&sampler, 2), 8);
  assert_int_equal(sampler.asked, 2);
  assert_int_equal(ask_before(&sampler, 3), 8); /* of GPU 0 nothing is known */
  assert_int_equal(sampler.asked, 3);
  sampler.known_ns[1] = 1;
  assert_int_equal(ask_before(&sampler, 2), 9);
  atomic_store(&shared->replays, 99);
  sampler_stop(&sampler, false);
}

TEST(without_samples_there_are_answers) {
  struct sampler sampler;
  struct collect collect = {0};
  char text[SAMPLER_TEXT_MAX];
  sampler_start(&sampler, &counting_ops, NULL, 0);
  assert_int_equal(ask(&sampler, 2), 99);
  assert_false(sampler_read(&sampler, &collect, 1, text)); /* nor is that silence a reason */
  sampler_finish(&sampler, &collect);
  assert_int_equal(collect.samples.count, 0);
  sampler_stop(&sampler, false);
  collect_fini(&collect);
}

TEST(who_hangs_is_asked_once) {
  struct sampler sampler;
  sampler_start(&sampler, &counting_ops, NULL, 0);
  assert_int_equal(ask(&sampler, 2), 99);
  atomic_store(&shared->hang, true);
  assert_int_equal(ask(&sampler, 2), -1);
  assert_true(gave_up);
  const uint32_t asked = sampler.asked;
  assert_int_equal(ask(&sampler, 2), -1);
  assert_false(gave_up);
  assert_int_equal(sampler.asked, asked);
  sampler_stop(&sampler, true);
  atomic_store(&shared->hang, false);
}

TEST(who_ended_answers_nothing) {
  struct sampler sampler;
  char text[SAMPLER_TEXT_MAX];
  sampler_start(&sampler, &counting_ops, NULL, 0);
  assert_int_equal(ask(&sampler, 2), 99);
  assert_int_equal(kill(sampler.pid, SIGKILL), 0);
  assert_int_equal(ask(&sampler, 2), -1);
  assert_false(gave_up); /* sampler_read() says why */
  assert_true(sampler_read(&sampler, NULL, 1000000000, text));
  assert_contains(text, "error counters are not recorded");
  assert_int_equal(ask(&sampler, 2), -1);
  sampler_stop(&sampler, false);
}

static int map_shared(void **state) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared == MAP_FAILED ? -1 : 0;
}

TEST_GROUP(map_shared, NULL);
