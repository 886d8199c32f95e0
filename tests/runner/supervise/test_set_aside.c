/* Which GPUs are set aside after which cases. */
#include "runner/supervise/set_aside.h"

#include "tests/cmocka.h"

enum { GPU_0 = 1, GPU_1 = 2, GPU_2 = 4 };

static void note_failures(struct set_aside *aside, uint32_t gpus, unsigned count) {
  char warning[SET_ASIDE_WARNING_MAX];
  for (unsigned i = 0; i < count; i++) {
    (void)set_aside_note_failure(aside, gpus, "illegal address", warning);
  }
}

TEST(three_failures_in_a_row_count) {
  struct set_aside aside = {0};
  char reason[CASE_REASON_MAX];
  char warning[SET_ASIDE_WARNING_MAX];
  note_failures(&aside, GPU_1, 2);
  assert_false(set_aside_has(&aside, GPU_1, reason));
  set_aside_note_success(&aside, GPU_0 | GPU_1);
  note_failures(&aside, GPU_1, 2);
  assert_true(set_aside_note_failure(&aside, GPU_1, "launch failed", warning));
  assert_non_null(strstr(warning, "GPU 1 failed in 3 cases in a row. haul sets it aside"));
  assert_false(set_aside_note_failure(&aside, GPU_1, "launch failed", warning)); /* said once */
  assert_true(set_aside_has(&aside, GPU_1, reason));
  assert_contains(reason, "not run: GPU 1 failed 4 times in a row (counts as failed; the last: ");
  assert_contains(reason, "last: launch failed");
}

TEST(cases_with_others_are_set_aside_too) {
  struct set_aside aside = {0};
  char reason[CASE_REASON_MAX];
  note_failures(&aside, GPU_1, SET_ASIDE_FAILURES);
  assert_true(set_aside_has(&aside, GPU_0 | GPU_1, reason));
  assert_false(set_aside_has(&aside, GPU_0 | GPU_2, reason));
  assert_false(set_aside_has(&aside, 0, reason));
}

/* Of a pair, nobody knows which one failed. */
TEST(a_pair_speaks_against_the_pair_alone) {
  struct set_aside aside = {0};
  char reason[CASE_REASON_MAX];
  char warning[SET_ASIDE_WARNING_MAX];
  note_failures(&aside, GPU_0 | GPU_2, SET_ASIDE_FAILURES - 1);
  assert_true(set_aside_note_failure(&aside, GPU_0 | GPU_2, "illegal address", warning));
  assert_non_null(
      strstr(warning, "GPU 0 and GPU 2 failed in 3 cases in a row. haul sets them aside"));
  assert_false(set_aside_has(&aside, GPU_0, reason));
  assert_false(set_aside_has(&aside, GPU_1 | GPU_2, reason));
  assert_true(set_aside_has(&aside, GPU_0 | GPU_1 | GPU_2, reason));
  assert_contains(reason, "GPU 0 and GPU 2 failed 3 times in a row");
  set_aside_note_success(&aside, GPU_0); /* says nothing of GPU 2 */
  assert_true(set_aside_has(&aside, GPU_0 | GPU_2, reason));
}

TEST(the_host_is_never_set_aside) {
  struct set_aside aside = {0};
  char reason[CASE_REASON_MAX];
  note_failures(&aside, 0, 10);
  assert_false(set_aside_has(&aside, 0, reason));
}

TEST(sets_are_bounded) {
  struct set_aside aside = {0};
  char reason[CASE_REASON_MAX];
  for (uint32_t gpus = 1; gpus <= SET_ASIDE_SETS_MAX + 10; gpus++) {
    note_failures(&aside, gpus << 20, 1);
  }
  assert_int_equal(aside.count, SET_ASIDE_SETS_MAX);
  note_failures(&aside, GPU_0, SET_ASIDE_FAILURES);
  assert_false(set_aside_has(&aside, GPU_0, reason));
}
