/* Which GPUs a case uses, and whether it needs the host. */
#include "runner/run/claim.h"

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"
#include "tests/cmocka.h"

static struct machine machine;

static int set_up(void **state) {
  machine = (struct machine){.gpu_count = 3};
  machine.links[0][1] = (struct gpu_link){.peer_access = true, .nvlink_count = 18};
  machine.links[0][2] = (struct gpu_link){.peer_access = true}; /* over PCIe */
  return 0;
}

static void expect(const struct case_def *def, uint32_t gpus, uint32_t links, bool host) {
  struct case_use use = {0};
  case_use_add(&use, &machine, def);
  assert_int_equal(use.gpus, gpus);
  assert_int_equal(use.links, links);
  assert_int_equal(use.host, host);
}

static void expect_flow(struct flow flow, uint32_t gpus, uint32_t links, bool host) {
  const struct case_def def = {.kind = CASE_TRANSFER, .flows = &flow, .flow_count = 1};
  expect(&def, gpus, links, host);
}

#define GPU(i)                                                                                     \
  { .place = PLACE_GPU, .index = (i) }
#define NODE                                                                                       \
  { .place = PLACE_NUMA, .index = 0 }

TEST_WITH(transfers, set_up, NULL) {
  expect_flow((struct flow){.source = GPU(0), .target = GPU(0)}, 1, 0, false);
  expect_flow((struct flow){.source = GPU(0), .target = GPU(1)}, 3, 0, false);
  expect_flow((struct flow){.source = GPU(0), .target = GPU(2)}, 5, 5, true);
  expect_flow((struct flow){.source = GPU(0), .target = GPU(1), .staged = true}, 3, 3, true);
  expect_flow((struct flow){.source = NODE, .target = GPU(2)}, 4, 4, true);
  expect_flow((struct flow){.source = GPU(1), .target = NODE}, 2, 2, true);
  expect_flow((struct flow){.source = NODE, .target = NODE}, 0, 0, true);
}

TEST_WITH(other_kinds, set_up, NULL) {
  union work work = {.chase = {.gpu = 1, .memory = GPU(1)}};
  struct case_def def = {.kind = CASE_CHASE, .work = &work};
  expect(&def, 2, 0, false);
  work.chase.memory = (struct endpoint)NODE;
  expect(&def, 2, 2, true);
  def.kind = CASE_STREAM;
  work = (union work){.stream = {.memory = GPU(2)}};
  expect(&def, 4, 0, false);
  work.stream.memory = (struct endpoint)NODE;
  expect(&def, 0, 0, true);
  def.kind = CASE_ARITHMETIC;
  work = (union work){.arithmetic = {.gpu = 2}};
  expect(&def, 4, 0, false);
  def.kind = CASE_OVERHEAD;
  work = (union work){.overhead = {.gpu = -1}};
  expect(&def, 0, 0, true);
}
