/* Which GPUs and NUMA nodes a selector means on a machine, and why it means none. */
#include "engine/machine/machine.h"
#include "runner/plan/plan.h"
#include "schema/scenario/setting.h"
#include "tests/runner/plan/fixture.h"

/* The plan of copies from these nodes to these GPUs has the paths; a path may be a reason instead.
 */
static void expect_cases(const struct machine *machine, struct selector nodes, struct selector gpus,
                         const char *const *paths, size_t count) {
  const struct setting setting = setting_of(numa_end(nodes, MEMORY_PINNED), gpu_end(gpus));
  struct plan_builder *builder = plan_builder_new(machine, NULL);
  SCOPED(plan_free_at) struct plan *plan = NULL;
  struct error err;
  assert_ok(plan_builder_add(builder, "block", &setting, &err), &err);
  assert_ok(plan_builder_finish(builder, CASE_ORDER_FILE, 0, &plan, &err), &err);
  plan_builder_free(builder);
  assert_int_equal(plan->case_count, count);
  for (size_t i = 0; i < count; i++) {
    const char *reason = plan->cases[i].skip_reason;
    assert_string_equal(reason != NULL ? reason : plan->cases[i].def.path, paths[i]);
  }
}

/* A UUID means one GPU, whether CUDA sees it or not. */
TEST(a_uuid_that_cuda_does_not_see_is_named) {
  static const char *const UUIDS[] = {"GPU-22"};
  const struct selector gpus = {.kind = SELECTOR_LIST, .uuids = UUIDS, .uuid_count = 1};
  SCOPED(memory_free) struct machine *machine = machine_4xl40s();
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    (void)snprintf(machine->gpus[i].uuid, sizeof machine->gpus[i].uuid, "GPU-%u%u%u%u", i, i, i, i);
  }
  expect_cases(machine, SELECT(0), gpus, (const char *const[]){"numa0:pinned-gpu2"}, 1);
  machine->gpus[2].cuda_ordinal = -1;
  expect_cases(machine, SELECT(0), gpus,
               (const char *const[]){"gpu2, GPU-2222, is not visible to CUDA"}, 1);
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    machine->gpus[i].cuda_ordinal = -1;
  }
  expect_cases(machine, SELECT(0), SELECT_ALL,
               (const char *const[]){"none of the 4 GPUs is visible to CUDA"}, 1);
}

/* Nodes of which no memory is known all hold buffers; beside others, one without memory does not.
 */
TEST(nodes_without_memory_hold_no_buffer) {
  SCOPED(memory_free) struct machine *machine = machine_4xl40s();
  machine->nodes[0].memory_bytes = 0;
  machine->nodes[1].memory_bytes = 1;
  expect_cases(machine, SELECT_ALL, SELECT(0), (const char *const[]){"numa1:pinned-gpu0"}, 1);
  machine->nodes[1].memory_bytes = 0;
  expect_cases(machine, SELECT_ALL, SELECT(0),
               (const char *const[]){"numa0:pinned-gpu0", "numa1:pinned-gpu0"}, 2);
  machine->nodes[0].cpu_count = 0;
  machine->nodes[1].cpu_count = 0;
  expect_cases(machine, SELECT_ALL, SELECT(0),
               (const char *const[]){"no NUMA node has processors and memory"}, 1);
}
