#include "engine/memory/memory.h"

#include "engine/machine/machine.h"
#include "tests/cmocka.h"

static const uint64_t MIB = UINT64_C(1) << 20;

/* Kinds that count, with a budget of bytes a place (host, GPU 0, GPU 1). */
static struct {
  uint64_t budget_bytes[3];
  int allocated;
  int released;
  uint64_t last_released_bytes;
  bool broken;
} fake;

static uint64_t *budget(const struct buffer *buffer) {
  return &fake.budget_bytes[buffer->endpoint.place == PLACE_NUMA ? 0 : 1 + buffer->endpoint.index];
}

static enum status fake_allocate(const struct memory_context *context, struct buffer *buffer,
                                 struct error *err) {
  if (fake.broken) {
    return error_set(err, STATUS_CUDA, "broken on purpose");
  }
  if (buffer->size_bytes > *budget(buffer)) {
    return error_set(err, STATUS_NO_MEMORY, "no memory on purpose");
  }
  *budget(buffer) -= buffer->size_bytes;
  buffer->host = malloc(1);
  fake.allocated++;
  return STATUS_OK;
}

static void fake_release(const struct memory_context *context, struct buffer *buffer) {
  *budget(buffer) += buffer->size_bytes;
  fake.last_released_bytes = buffer->size_bytes;
  fake.released++;
  free(buffer->host);
}

static const struct memory_ops fake_pageable = {.kind = MEMORY_PAGEABLE,
                                                .place = PLACE_NUMA,
                                                .allocate = fake_allocate,
                                                .release = fake_release};
static const struct memory_ops fake_huge = {
    .kind = MEMORY_HUGE, .place = PLACE_NUMA, .allocate = fake_allocate, .release = fake_release};
static const struct memory_ops fake_pinned = {.kind = MEMORY_PINNED,
                                              .place = PLACE_NUMA,
                                              .needs_cuda = true,
                                              .allocate = fake_allocate,
                                              .release = fake_release};
static const struct memory_ops fake_device = {
    .kind = MEMORY_DEVICE, .place = PLACE_GPU, .allocate = fake_allocate, .release = fake_release};
static const struct memory_ops *const kinds[memory_kind_name_count] = {
    [MEMORY_PAGEABLE] = &fake_pageable,
    [MEMORY_HUGE] = &fake_huge,
    [MEMORY_PINNED] = &fake_pinned,
    [MEMORY_DEVICE] = &fake_device,
};

static struct machine machine = {.cuda_state = "no driver on purpose"};
static const struct memory_context context = {.machine = &machine};
static const struct endpoint node0 = {.place = PLACE_NUMA, .memory = MEMORY_PAGEABLE};
static const struct endpoint node1 = {.place = PLACE_NUMA, .index = 1, .memory = MEMORY_PAGEABLE};
/* Another kind of host memory that needs no CUDA. */
static const struct endpoint second0 = {.place = PLACE_NUMA, .memory = MEMORY_HUGE};
static const struct endpoint gpu0 = {.place = PLACE_GPU, .memory = MEMORY_DEVICE};
static const struct endpoint gpu1 = {.place = PLACE_GPU, .index = 1, .memory = MEMORY_DEVICE};

static int set_up(void **state) {
  memset(&fake, 0, sizeof fake);
  for (size_t i = 0; i < 3; i++) {
    fake.budget_bytes[i] = 1000 * MIB;
  }
  *state = pool_new(&context, kinds);
  return *state == NULL;
}

/* Whatever a test did, everything allocated is released once. */
static int tear_down(void **state) {
  pool_free(*state);
  return fake.allocated != fake.released || fake.budget_bytes[0] != 1000 * MIB ||
         fake.budget_bytes[1] != 1000 * MIB || fake.budget_bytes[2] != 1000 * MIB;
}

static const struct buffer *take(struct pool *pool, const struct endpoint *endpoint,
                                 uint64_t size_bytes) {
  const struct buffer *buffer = NULL;
  struct error err = {0};
  assert_ok(pool_take(pool, endpoint, size_bytes, &buffer, &err), &err);
  assert_true(buffer->size_bytes >= size_bytes);
  return buffer;
}

TEST_WITH(a_buffer_given_back_is_taken_again, set_up, tear_down, struct pool *pool) {
  const struct buffer *first = take(pool, &node0, 10 * MIB);
  const struct buffer *second = take(pool, &node0, 10 * MIB);
  assert_ptr_not_equal(first, second);
  assert_int_equal(fake.allocated, 2);
  pool_give_back_all(pool);
  (void)take(pool, &node0, 10 * MIB);
  (void)take(pool, &node0, 1 * MIB);
  assert_int_equal(fake.allocated, 2);
  (void)take(pool, &node0, 1 * MIB);
  assert_int_equal(fake.allocated, 3);
}

TEST_WITH(buffers_stay_where_they_are_while_the_pool_grows, set_up, tear_down, struct pool *pool) {
  const struct buffer *buffers[40];
  for (uint64_t i = 0; i < 40; i++) {
    buffers[i] = take(pool, &node0, i + 1);
  }
  for (uint64_t i = 0; i < 40; i++) {
    assert_int_equal(buffers[i]->size_bytes, i + 1);
  }
}

TEST_WITH(other_endpoints_do_not_share, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, MIB);
  (void)take(pool, &gpu0, MIB);
  pool_give_back_all(pool);
  assert_int_equal(take(pool, &node1, MIB)->endpoint.index, 1);
  assert_int_equal(take(pool, &gpu1, MIB)->endpoint.index, 1);
  assert_int_equal(fake.allocated, 4);
}

TEST_WITH(much_larger_buffers_are_left_alone, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, 400 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &node0, 49 * MIB); /* more than 8 times and more than 64 MiB above */
  assert_int_equal(fake.allocated, 2);
  pool_give_back_all(pool);
  assert_int_equal(take(pool, &node0, 50 * MIB)->size_bytes, 400 * MIB);
  assert_int_equal(take(pool, &node0, 36 * MIB)->size_bytes, 49 * MIB);
  assert_int_equal(fake.allocated, 2);
}

TEST_WITH(the_smallest_that_fits_is_taken, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, 30 * MIB);
  (void)take(pool, &node0, 20 * MIB);
  (void)take(pool, &node0, 25 * MIB);
  pool_give_back_all(pool);
  assert_int_equal(take(pool, &node0, 18 * MIB)->size_bytes, 20 * MIB);
  assert_int_equal(take(pool, &node0, 18 * MIB)->size_bytes, 25 * MIB);
}

TEST_WITH(free_buffers_make_room_largest_first, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &gpu0, 300 * MIB);
  (void)take(pool, &gpu0, 400 * MIB);
  (void)take(pool, &gpu1, 800 * MIB);
  (void)take(pool, &node0, 900 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &gpu0, 500 * MIB);
  assert_int_equal(fake.released, 1);
  assert_int_equal(fake.last_released_bytes, 400 * MIB);
  assert_int_equal(fake.budget_bytes[2], 200 * MIB); /* GPU 1 and the host keep theirs */
  assert_int_equal(fake.budget_bytes[0], 100 * MIB);
}

TEST_WITH(a_taken_buffer_is_never_released_for_another, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, 600 * MIB);
  const struct buffer *buffer = NULL;
  assert_int_equal(pool_take(pool, &node1, 600 * MIB, &buffer, err), STATUS_NO_MEMORY);
  assert_null(buffer);
  assert_int_equal(fake.released, 0);
  pool_give_back_all(pool);
  (void)take(pool, &node1, 600 * MIB);
}

TEST_WITH(another_error_releases_nothing, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, MIB);
  pool_give_back_all(pool);
  fake.broken = true;
  const struct buffer *buffer = NULL;
  assert_int_equal(pool_take(pool, &gpu0, MIB, &buffer, err), STATUS_CUDA);
  assert_int_equal(fake.released, 0);
}

TEST_WITH(trimming_leaves_what_is_taken, set_up, tear_down, struct pool *pool) {
  (void)take(pool, &node0, 10 * MIB);
  (void)take(pool, &node0, 20 * MIB);
  pool_give_back_all(pool);
  const struct buffer *kept = take(pool, &node0, 20 * MIB);
  pool_trim(pool);
  assert_int_equal(fake.released, 1);
  assert_int_equal(fake.last_released_bytes, 10 * MIB);
  assert_int_equal(kept->size_bytes, 20 * MIB);
}

/* What a sweep upward leaves behind is released before it comes to much, and the reuse of buffers
 * of one size goes on. */
TEST_WITH(a_rising_sweep_stays_within_the_bound, set_up, tear_down, struct pool *pool) {
  const uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  for (uint64_t mib = 10; mib <= 500; mib += 10) {
    pool_bound(pool, 2 * mib * MIB, gpu_bytes); /* what the case needs at once */
    (void)take(pool, &node0, mib * MIB);
    (void)take(pool, &node1, mib * MIB);
    assert_true(1000 * MIB - fake.budget_bytes[0] <= 2 * mib * MIB);
    pool_give_back_all(pool);
  }
  const int allocated = fake.allocated;
  (void)take(pool, &node0, 500 * MIB);
  (void)take(pool, &node1, 500 * MIB);
  assert_int_equal(fake.allocated, allocated);
}

TEST_WITH(the_bound_takes_what_was_not_used_for_longest, set_up, tear_down, struct pool *pool) {
  const uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  pool_bound(pool, 100 * MIB, gpu_bytes);
  (void)take(pool, &node0, 50 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &node1, 40 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &node0, 50 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &second0, 20 * MIB);
  assert_int_equal(fake.last_released_bytes, 40 * MIB);
  (void)take(pool, &second0, 200 * MIB); /* taken buffers stay, and the case gets what it needs */
}

TEST_WITH(many_sizes_leave_few_buffers, set_up, tear_down, struct pool *pool) {
  for (uint64_t i = 1; i <= 20000; i++) {
    (void)take(pool, &node0, i);
    pool_give_back_all(pool);
  }
  assert_true(fake.allocated - fake.released <= POOL_FREE_MAX);
}

TEST_WITH(kinds_that_cannot_be_say_why, set_up, tear_down, struct pool *pool) {
  const struct buffer *buffer = NULL;
  struct endpoint endpoint = {.place = PLACE_GPU, .memory = MEMORY_MANAGED};
  assert_fails(pool_take(pool, &endpoint, 1, &buffer, err), STATUS_UNSUPPORTED, err, "managed");
  endpoint = (struct endpoint){.place = PLACE_GPU, .memory = MEMORY_PAGEABLE};
  assert_fails(pool_take(pool, &endpoint, 1, &buffer, err), STATUS_INVALID, err, "GPU");
  endpoint = (struct endpoint){.place = PLACE_NUMA, .memory = MEMORY_PINNED};
  assert_fails(pool_take(pool, &endpoint, 1, &buffer, err), STATUS_UNSUPPORTED, err,
               "no driver on purpose");
  assert_null(buffer);
}

static char some_session; /* its address alone is looked at */

static int set_up_with_cuda(void **state) {
  static struct memory_context with_cuda;
  with_cuda = context;
  with_cuda.cuda = (void *)&some_session;
  (void)set_up(state);
  pool_free(*state);
  *state = pool_new(&with_cuda, kinds);
  return *state == NULL;
}
#define POOL_TEST(name) TEST_WITH(name, set_up_with_cuda, tear_down, struct pool *pool)

static const struct endpoint pinned0 = {.place = PLACE_NUMA, .memory = MEMORY_PINNED};

POOL_TEST(pinned_memory_is_as_large_as_later_cases_need) {
  const uint64_t none[MACHINE_GPUS_MAX] = {0};
  pool_expect(pool, &pinned0, 384 * MIB);
  pool_expect(pool, &pinned0, 128 * MIB);
  pool_expect(pool, &node0, 384 * MIB); /* allocated in no time */
  assert_int_equal(take(pool, &pinned0, 47 * MIB)->size_bytes, 128 * MIB);
  assert_int_equal(take(pool, &node0, 128 * MIB)->size_bytes, 128 * MIB);
  /* A small copy that goes first does not take the place of a later case's. */
  pool_expect(pool, &pinned0, 64 * MIB);
  assert_int_equal(take(pool, &pinned0, 64 << 10)->size_bytes, 64 << 10);
  pool_give_back_all(pool);
  pool_trim(pool);
  pool_bound(pool, 384 * MIB, none);
  assert_int_equal(take(pool, &pinned0, 100 * MIB)->size_bytes, 384 * MIB);
  pool_give_back_all(pool);
  (void)take(pool, &pinned0, 384 * MIB);
  assert_int_equal(fake.allocated, 4);
}

POOL_TEST(what_a_later_case_needs_leaves_room_for_the_present_one) {
  const uint64_t none[MACHINE_GPUS_MAX] = {0};
  pool_expect(pool, &pinned0, 720 * MIB);
  pool_bound(pool, 720 * MIB, none);
  pool_begin_case(pool, 720 * MIB);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(take(pool, &pinned0, 180 * MIB)->size_bytes, 180 * MIB);
  }
}

POOL_TEST(what_a_later_case_needs_is_not_worth_an_error) {
  const uint64_t none[MACHINE_GPUS_MAX] = {0};
  pool_expect(pool, &pinned0, 384 * MIB);
  pool_bound(pool, 383 * MIB, none);
  assert_int_equal(take(pool, &pinned0, 100 * MIB)->size_bytes, 100 * MIB);
  pool_bound(pool, 2000 * MIB, none);
  fake.budget_bytes[0] -= 600 * MIB; /* 300 MiB are left */
  assert_int_equal(take(pool, &pinned0, 100 * MIB)->size_bytes, 100 * MIB);
  assert_int_equal(fake.released, 0);
  assert_false(pool_forget_expected(pool)); /* nothing is larger than was needed */
  fake.budget_bytes[0] += 600 * MIB;
  pool_give_back_all(pool);
  pool_trim(pool);
  assert_int_equal(take(pool, &pinned0, 100 * MIB)->size_bytes, 384 * MIB);
  pool_give_back_all(pool);
  assert_true(pool_forget_expected(pool));
  assert_int_equal(take(pool, &pinned0, 100 * MIB)->size_bytes, 100 * MIB);
}
