#include "runner/import/nvbandwidth_cases.h"

#include <math.h>
#include <string.h>

/* What a test copies. "row" and "column" are the GPUs of a cell; tests with one row have a GPU a
 * column. */
enum shape {
  SHAPE_TO_GPU,        /* host -> column */
  SHAPE_FROM_GPU,      /* column -> host */
  SHAPE_TO_GPU_LOADED, /* the same beside a copy back that is not counted */
  SHAPE_FROM_GPU_LOADED,
  SHAPE_PULL,       /* column -> row, by row */
  SHAPE_PUSH,       /* row -> column, by row */
  SHAPE_ALL_PUSH,   /* all others -> column, by the others, in one window */
  SHAPE_ONE_PULLS,  /* all others -> column, by column */
  SHAPE_ONE_PUSHES, /* column -> all others, by column */
  SHAPE_ALL_PULL,   /* column -> all others, by the others */
  SHAPE_LOCAL,      /* column -> column */
  SHAPE_OTHER,      /* nothing that haul measures; the reason says why */
};

struct definition {
  const char *name;
  enum method method;
  enum shape shape;
  const char *reason;
};

#define TWO_WINDOWS                                                                                \
  "nvbandwidth times the two directions apart (and adds the rates); haul counts both in one "      \
  "window"
#define ONE_AT_A_TIME                                                                              \
  "nvbandwidth counts one GPU at a time beside the others; haul counts all of them in one window"
#define WRITES(same)                                                                               \
  "nvbandwidth runs it on the source GPU, so that it writes: the same measurement as " same
#define LAUNCH                                                                                     \
  "nvbandwidth's time includes the launch, at a fixed stride; haul's thread times itself along a " \
  "random cycle"

/* What nvbandwidth 0.8's sources do (testcases_ce.cpp, testcases_sm.cpp, testcase.cpp): the copy's
 * source and target, whose context it is launched in, and what is counted. */
static const struct definition DEFINITIONS[] = {
    {"host_to_device_memcpy_ce", METHOD_CE, SHAPE_TO_GPU, NULL},
    {"device_to_host_memcpy_ce", METHOD_CE, SHAPE_FROM_GPU, NULL},
    {"host_to_device_bidirectional_memcpy_ce", METHOD_CE, SHAPE_TO_GPU_LOADED, NULL},
    {"device_to_host_bidirectional_memcpy_ce", METHOD_CE, SHAPE_FROM_GPU_LOADED, NULL},
    {"device_to_device_memcpy_read_ce", METHOD_CE, SHAPE_PULL, NULL},
    {"device_to_device_memcpy_write_ce", METHOD_CE, SHAPE_PUSH, NULL},
    {"device_to_device_bidirectional_memcpy_read_ce", METHOD_CE, SHAPE_OTHER, TWO_WINDOWS},
    {"device_to_device_bidirectional_memcpy_write_ce", METHOD_CE, SHAPE_OTHER, TWO_WINDOWS},
    {"all_to_host_memcpy_ce", METHOD_CE, SHAPE_OTHER, ONE_AT_A_TIME},
    {"all_to_host_bidirectional_memcpy_ce", METHOD_CE, SHAPE_OTHER, ONE_AT_A_TIME},
    {"host_to_all_memcpy_ce", METHOD_CE, SHAPE_OTHER, ONE_AT_A_TIME},
    {"host_to_all_bidirectional_memcpy_ce", METHOD_CE, SHAPE_OTHER, ONE_AT_A_TIME},
    {"all_to_one_write_ce", METHOD_CE, SHAPE_ALL_PUSH, NULL},
    {"all_to_one_read_ce", METHOD_CE, SHAPE_ALL_PULL, NULL},
    {"one_to_all_write_ce", METHOD_CE, SHAPE_ONE_PUSHES, NULL},
    {"one_to_all_read_ce", METHOD_CE, SHAPE_ONE_PULLS, NULL},
    {"host_to_device_memcpy_sm", METHOD_SM, SHAPE_TO_GPU, NULL},
    {"device_to_host_memcpy_sm", METHOD_SM, SHAPE_FROM_GPU, NULL},
    {"host_to_device_bidirectional_memcpy_sm", METHOD_SM, SHAPE_TO_GPU_LOADED, NULL},
    {"device_to_host_bidirectional_memcpy_sm", METHOD_SM, SHAPE_FROM_GPU_LOADED, NULL},
    {"device_to_device_memcpy_read_sm", METHOD_SM, SHAPE_PULL, NULL},
    {"device_to_device_memcpy_write_sm", METHOD_SM, SHAPE_PUSH, NULL},
    {"device_to_device_bidirectional_memcpy_read_sm", METHOD_SM, SHAPE_OTHER, TWO_WINDOWS},
    {"device_to_device_bidirectional_memcpy_write_sm", METHOD_SM, SHAPE_OTHER, TWO_WINDOWS},
    {"all_to_host_memcpy_sm", METHOD_SM, SHAPE_OTHER, ONE_AT_A_TIME},
    {"all_to_host_bidirectional_memcpy_sm", METHOD_SM, SHAPE_OTHER, ONE_AT_A_TIME},
    {"host_to_all_memcpy_sm", METHOD_SM, SHAPE_OTHER, ONE_AT_A_TIME},
    {"host_to_all_bidirectional_memcpy_sm", METHOD_SM, SHAPE_OTHER, ONE_AT_A_TIME},
    {"all_to_one_write_sm", METHOD_SM, SHAPE_ALL_PUSH, NULL},
    {"all_to_one_read_sm", METHOD_SM, SHAPE_OTHER, WRITES("one_to_all_write_sm")},
    {"one_to_all_write_sm", METHOD_SM, SHAPE_ONE_PUSHES, NULL},
    {"one_to_all_read_sm", METHOD_SM, SHAPE_OTHER, WRITES("all_to_one_write_sm")},
    {"host_device_latency_sm", METHOD_SM, SHAPE_OTHER, LAUNCH},
    {"device_to_device_latency_sm", METHOD_SM, SHAPE_OTHER, LAUNCH},
    {"device_local_copy", METHOD_CE, SHAPE_LOCAL, NULL},
};

/* Below it, nvbandwidth's kernel has each thread repeat its own 16 bytes. */
static const uint64_t SM_SIZE_MIN = UINT64_C(64) << 20;

static const struct definition *nvbandwidth_find_definition(const char *name) {
  for (size_t i = 0; i < sizeof DEFINITIONS / sizeof *DEFINITIONS; i++) {
    if (strcmp(DEFINITIONS[i].name, name) == 0) {
      return &DEFINITIONS[i];
    }
  }
  return NULL;
}

static bool nvbandwidth_is_gpu(const struct endpoint *end, int32_t gpu) {
  return end->place == PLACE_GPU && end->memory == MEMORY_DEVICE && end->index == gpu;
}

static bool nvbandwidth_is_host(const struct endpoint *end) {
  return end->place == PLACE_NUMA && end->memory == MEMORY_PINNED;
}

/* The flows of a planned case, told apart. */
struct flows {
  const struct flow *measured; /* the first */
  const struct flow *load;
  uint32_t measured_count, load_count;
};

/* False: a flow that nvbandwidth has not. */
static bool nvbandwidth_sort_flows(const struct bench_case *bench, enum method method,
                                   struct flows *flows) {
  *flows = (struct flows){0};
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
    if (flow->method != method || flow->staged || copy_shape_is_strided(&flow->shape)) {
      return false;
    }
    if (flow->role == FLOW_LOAD) {
      flows->load = flow;
      flows->load_count++;
    } else {
      flows->measured = flows->measured_count == 0 ? flow : flows->measured;
      flows->measured_count++;
    }
  }
  return flows->measured_count > 0;
}

/* All others into one, or one into all others. */
static bool nvbandwidth_is_star(const struct bench_case *bench, int32_t hub, bool into,
                                enum initiator by, uint32_t device_count) {
  for (uint32_t i = 0; i < bench->flow_count; i++) {
    const struct flow *flow = &bench->flows[i];
    const struct endpoint *one = into ? &flow->target : &flow->source;
    const struct endpoint *other = into ? &flow->source : &flow->target;
    if (flow->role != FLOW_MEASURED || flow->initiator != by || !nvbandwidth_is_gpu(one, hub) ||
        !nvbandwidth_is_gpu(other, other->index) || other->index == hub) {
      return false;
    }
  }
  /* A plan has each pair once; "all" of the file are its devices. */
  return bench->flow_count == device_count - 1;
}

static bool nvbandwidth_is_pair(const struct flows *flows, int32_t source, int32_t target,
                                enum initiator by) {
  const struct flow *flow = flows->measured;
  return flows->measured_count == 1 && flows->load_count == 0 &&
         nvbandwidth_is_gpu(&flow->source, source) && nvbandwidth_is_gpu(&flow->target, target) &&
         flow->initiator == by;
}

static bool nvbandwidth_is_host_copy(const struct flows *flows, int32_t gpu, bool to_gpu,
                                     bool loaded) {
  const struct flow *flow = flows->measured;
  const struct flow *load = flows->load;
  if (flows->measured_count != 1 || flows->load_count != (loaded ? 1 : 0)) {
    return false;
  }
  if (loaded &&
      !(to_gpu ? nvbandwidth_is_gpu(&load->source, gpu) && nvbandwidth_is_host(&load->target)
               : nvbandwidth_is_host(&load->source) && nvbandwidth_is_gpu(&load->target, gpu))) {
    return false;
  }
  return to_gpu ? nvbandwidth_is_host(&flow->source) && nvbandwidth_is_gpu(&flow->target, gpu)
                : nvbandwidth_is_gpu(&flow->source, gpu) && nvbandwidth_is_host(&flow->target);
}

static bool nvbandwidth_matches(const struct bench_case *bench, const struct definition *definition,
                                int32_t row, int32_t column, uint32_t device_count) {
  struct flows flows;
  if (bench->kind != CASE_TRANSFER || !nvbandwidth_sort_flows(bench, definition->method, &flows)) {
    return false;
  }
  switch (definition->shape) {
  case SHAPE_TO_GPU:
    return nvbandwidth_is_host_copy(&flows, column, true, false);
  case SHAPE_FROM_GPU:
    return nvbandwidth_is_host_copy(&flows, column, false, false);
  case SHAPE_TO_GPU_LOADED:
    return nvbandwidth_is_host_copy(&flows, column, true, true);
  case SHAPE_FROM_GPU_LOADED:
    return nvbandwidth_is_host_copy(&flows, column, false, true);
  case SHAPE_PULL:
    return nvbandwidth_is_pair(&flows, column, row, INITIATOR_TARGET);
  case SHAPE_PUSH:
    return nvbandwidth_is_pair(&flows, row, column, INITIATOR_SOURCE);
  case SHAPE_ALL_PUSH:
    return nvbandwidth_is_star(bench, column, true, INITIATOR_SOURCE, device_count);
  case SHAPE_ONE_PULLS:
    return nvbandwidth_is_star(bench, column, true, INITIATOR_TARGET, device_count);
  case SHAPE_ONE_PUSHES:
    return nvbandwidth_is_star(bench, column, false, INITIATOR_SOURCE, device_count);
  case SHAPE_ALL_PULL:
    return nvbandwidth_is_star(bench, column, false, INITIATOR_TARGET, device_count);
  case SHAPE_LOCAL:
    return flows.measured_count == 1 && flows.load_count == 0 &&
           nvbandwidth_is_gpu(&flows.measured->source, column) &&
           nvbandwidth_is_gpu(&flows.measured->target, column);
  case SHAPE_OTHER:
    break;
  }
  return false;
}

/* While values are being taken. */
struct taking {
  const struct nvbandwidth_file *file;
  const struct plan *plan;
  const int32_t *gpu_of_device;
  size_t device_count;
  double *ns; /* of plan->cases[i]; 0 = none */
};

static const char *nvbandwidth_take_value(struct taking *taking,
                                          const struct definition *definition, int32_t row,
                                          int32_t column, double gbps) {
  for (size_t i = 0; i < taking->plan->case_count; i++) {
    const struct bench_case *bench = &taking->plan->cases[i].bench;
    if (!nvbandwidth_matches(bench, definition, row, column, (uint32_t)taking->device_count)) {
      continue;
    }
    if (taking->ns[i] > 0) {
      return "here it is the same case as another test's";
    }
    if (definition->method == METHOD_SM && bench->flows[0].size_bytes < SM_SIZE_MIN) {
      return "below 64 MiB, nvbandwidth's kernel copies the same bytes again and again";
    }
    taking->ns[i] = (double)bench->payload_bytes / gbps; /* GB/s are bytes a ns */
    return NULL;
  }
  return "no case of the scenario nvbandwidth measures the same";
}

static size_t nvbandwidth_count_values(const struct nvbandwidth_test *test) {
  size_t count = 0;
  for (size_t i = 0; i < test->rows * test->columns; i++) {
    count += isnan(test->cells[i]) ? 0 : 1;
  }
  return count;
}

/* Why nothing of the test can be taken; NULL = its cells can. */
static const char *nvbandwidth_refuse_test(const struct taking *taking,
                                           const struct nvbandwidth_test *test,
                                           const struct definition *definition,
                                           struct arena *arena) {
  if (definition == NULL) {
    return "not a test of nvbandwidth 0.5 to 0.8 that haul knows";
  }
  if (strcmp(test->status, "Passed") != 0 && test->status[0] != '\0') {
    return arena_format(arena, "nvbandwidth says: %.40s", test->status);
  }
  if (definition->shape == SHAPE_OTHER) {
    return definition->reason;
  }
  const bool square = definition->shape == SHAPE_PULL || definition->shape == SHAPE_PUSH;
  const size_t rows = square ? taking->device_count : 1;
  if (test->rows != rows || test->columns != taking->device_count) {
    return arena_format(arena, "its matrix is %zu by %zu, not %zu by %zu as of %zu GPUs",
                        test->rows, test->columns, rows, taking->device_count,
                        taking->device_count);
  }
  return NULL;
}

static void nvbandwidth_take_test(struct taking *taking, const struct nvbandwidth_test *test,
                                  struct arena *arena, struct imported_test *imported) {
  const struct definition *definition = nvbandwidth_find_definition(test->name);
  *imported = (struct imported_test){.name = test->name, .values = nvbandwidth_count_values(test)};
  imported->reason = nvbandwidth_refuse_test(taking, test, definition, arena);
  if (imported->reason != NULL) {
    return;
  }
  for (size_t i = 0; i < test->rows * test->columns; i++) {
    const double gbps = test->cells[i];
    if (isnan(gbps)) {
      continue;
    }
    const char *reason = "it is no rate";
    if (gbps > 0) {
      reason = nvbandwidth_take_value(taking, definition, taking->gpu_of_device[i / test->columns],
                                      taking->gpu_of_device[i % test->columns], gbps);
    }
    imported->taken += reason == NULL ? 1 : 0;
    imported->reason = imported->reason != NULL ? imported->reason : reason;
  }
}

static size_t nvbandwidth_known_devices(const struct nvbandwidth_file *file,
                                        const struct plan *plan) {
  return file->device_count > 0 ? file->device_count : plan->machine->gpu_count;
}

/* The plan of what was taken. A case that this machine would refuse was measured all the same. */
static void nvbandwidth_keep_taken(const struct taking *taking, struct arena *arena,
                                   struct imported_cases *cases) {
  const struct plan *plan = taking->plan;
  struct plan_case *kept = arena_array(arena, plan->case_count, sizeof *kept);
  cases->median_ns = arena_array(arena, plan->case_count, sizeof *cases->median_ns);
  size_t count = 0;
  for (size_t i = 0; i < plan->case_count; i++) {
    if (taking->ns[i] > 0) {
      kept[count] = plan->cases[i];
      kept[count].skip_reason = NULL;
      cases->median_ns[count++] = taking->ns[i];
    }
  }
  cases->plan = (struct plan){
      .scenario = plan->scenario, .machine = plan->machine, .cases = kept, .case_count = count};
}

void nvbandwidth_cases(const struct nvbandwidth_file *file, const struct plan *plan,
                       const int32_t gpu_of_device[MACHINE_GPUS_MAX], struct arena *arena,
                       struct imported_cases *cases) {
  struct taking taking = {.file = file,
                          .plan = plan,
                          .gpu_of_device = gpu_of_device,
                          .device_count = nvbandwidth_known_devices(file, plan),
                          .ns = arena_array(arena, plan->case_count, sizeof(double))};
  cases->test_count = file->test_count;
  cases->tests = arena_array(arena, file->test_count, sizeof *cases->tests);
  for (size_t i = 0; i < file->test_count; i++) {
    nvbandwidth_take_test(&taking, &file->tests[i], arena, &cases->tests[i]);
  }
  nvbandwidth_keep_taken(&taking, arena, cases);
}

const char *nvbandwidth_note(const struct nvbandwidth_file *file, struct arena *arena) {
  return arena_format(
      arena,
      "imported: one value of nvbandwidth 0.%u, which copies 512 MiB at a time unless "
      "told otherwise",
      file->version);
}
