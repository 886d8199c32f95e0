#include "runner/import/nvbandwidth_cases.h"

#include "engine/case/transfer.h"
#include "engine/case/work.h"
#include "engine/machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An end of the copies of a test. Row and column are the GPUs of a cell of its matrix; tests with
 * one row have a GPU per column. */
enum end { END_HOST, END_ROW, END_COLUMN, END_OTHERS /* every GPU but the column, a flow each */ };

enum { ANY_INITIATOR = -1 };

/* What a test copies. */
struct test_shape {
  enum end source, target;
  int initiator; /* enum initiator */
  bool loaded;   /* beside a copy back that is not counted */
};
static const struct test_shape TO_GPU = {END_HOST, END_COLUMN, ANY_INITIATOR, false};
static const struct test_shape FROM_GPU = {END_COLUMN, END_HOST, ANY_INITIATOR, false};
static const struct test_shape TO_GPU_LOADED = {END_HOST, END_COLUMN, ANY_INITIATOR, true};
static const struct test_shape FROM_GPU_LOADED = {END_COLUMN, END_HOST, ANY_INITIATOR, true};
static const struct test_shape PULL = {END_COLUMN, END_ROW, INITIATOR_TARGET, false};
static const struct test_shape PUSH = {END_ROW, END_COLUMN, INITIATOR_SOURCE, false};
static const struct test_shape ALL_PUSH = {END_OTHERS, END_COLUMN, INITIATOR_SOURCE, false};
static const struct test_shape ONE_PULLS = {END_OTHERS, END_COLUMN, INITIATOR_TARGET, false};
static const struct test_shape ONE_PUSHES = {END_COLUMN, END_OTHERS, INITIATOR_SOURCE, false};
static const struct test_shape ALL_PULL = {END_COLUMN, END_OTHERS, INITIATOR_TARGET, false};
static const struct test_shape LOCAL = {END_COLUMN, END_COLUMN, ANY_INITIATOR, false};

/* What moves the bytes of a test. */
enum mover {
  BY_CE,
  BY_SM,
  BY_BULK, /* method sm, variant bulk: nvbandwidth's tma */
  BY_READ, /* a [[stream]] within a GPU, op = "read" */
  BY_WRITE,
};

struct definition {
  const char *name;
  enum mover mover;
  const struct test_shape *shape; /* NULL: nothing that haul measures */
  const char *reason;             /* why not */
};

#define TWO_WINDOWS                                                                                \
  "nvbandwidth times the two directions apart (and adds the rates); haul counts both in one "      \
  "window"
#define ONE_AT_A_TIME                                                                              \
  "nvbandwidth counts one GPU at a time beside the others; haul counts all of them in one window"
#define WRITES(same)                                                                               \
  "nvbandwidth runs it on the source GPU, so that it writes: the same measurement as " same
#define REPEATS                                                                                    \
  "nvbandwidth's kernel copies the same 16 bytes of each thread 16 times in a row; haul copies "   \
  "each byte once"
#define LAUNCH                                                                                     \
  "nvbandwidth's time includes the launch, at a fixed stride; haul's thread times itself along a " \
  "random cycle"

/* What nvbandwidth 0.8's sources do (testcases_ce.cpp, testcases_sm.cpp, testcase.cpp), and the
 * list of 0.10 (nvbandwidth -l) says of the nine tests that are new there: the copy's source and
 * target, whose context it is launched in, and what is counted; in the order of that list. Up to
 * its 33rd test it is that of 0.8, whose last one, device_local_copy, has the number 34 there. */
static const struct definition DEFINITIONS[] = {
    {"host_to_device_memcpy_ce", BY_CE, &TO_GPU, NULL},
    {"device_to_host_memcpy_ce", BY_CE, &FROM_GPU, NULL},
    {"host_to_device_bidirectional_memcpy_ce", BY_CE, &TO_GPU_LOADED, NULL},
    {"device_to_host_bidirectional_memcpy_ce", BY_CE, &FROM_GPU_LOADED, NULL},
    {"device_to_device_memcpy_read_ce", BY_CE, &PULL, NULL},
    {"device_to_device_memcpy_write_ce", BY_CE, &PUSH, NULL},
    {"device_to_device_bidirectional_memcpy_read_ce", BY_CE, NULL, TWO_WINDOWS},
    {"device_to_device_bidirectional_memcpy_write_ce", BY_CE, NULL, TWO_WINDOWS},
    {"all_to_host_memcpy_ce", BY_CE, NULL, ONE_AT_A_TIME},
    {"all_to_host_bidirectional_memcpy_ce", BY_CE, NULL, ONE_AT_A_TIME},
    {"host_to_all_memcpy_ce", BY_CE, NULL, ONE_AT_A_TIME},
    {"host_to_all_bidirectional_memcpy_ce", BY_CE, NULL, ONE_AT_A_TIME},
    {"all_to_one_write_ce", BY_CE, &ALL_PUSH, NULL},
    {"all_to_one_read_ce", BY_CE, &ALL_PULL, NULL},
    {"one_to_all_write_ce", BY_CE, &ONE_PUSHES, NULL},
    {"one_to_all_read_ce", BY_CE, &ONE_PULLS, NULL},
    {"host_to_device_memcpy_sm", BY_SM, &TO_GPU, NULL},
    {"device_to_host_memcpy_sm", BY_SM, &FROM_GPU, NULL},
    {"host_to_device_bidirectional_memcpy_sm", BY_SM, NULL, REPEATS},
    {"device_to_host_bidirectional_memcpy_sm", BY_SM, NULL, REPEATS},
    {"device_to_device_memcpy_read_sm", BY_SM, &PULL, NULL},
    {"device_to_device_memcpy_write_sm", BY_SM, &PUSH, NULL},
    {"device_to_device_bidirectional_memcpy_read_sm", BY_SM, NULL, TWO_WINDOWS},
    {"device_to_device_bidirectional_memcpy_write_sm", BY_SM, NULL, TWO_WINDOWS},
    {"all_to_host_memcpy_sm", BY_SM, NULL, ONE_AT_A_TIME},
    {"all_to_host_bidirectional_memcpy_sm", BY_SM, NULL, ONE_AT_A_TIME},
    {"host_to_all_memcpy_sm", BY_SM, NULL, ONE_AT_A_TIME},
    {"host_to_all_bidirectional_memcpy_sm", BY_SM, NULL, ONE_AT_A_TIME},
    {"all_to_one_write_sm", BY_SM, &ALL_PUSH, NULL},
    {"all_to_one_read_sm", BY_SM, NULL, WRITES("one_to_all_write_sm")},
    {"one_to_all_write_sm", BY_SM, &ONE_PUSHES, NULL},
    {"one_to_all_read_sm", BY_SM, NULL, WRITES("all_to_one_write_sm")},
    {"host_device_latency_sm", BY_SM, NULL, LAUNCH},
    {"device_to_device_latency_sm", BY_SM, NULL, LAUNCH},
    {"device_to_device_memcpy_read_tma", BY_BULK, &PULL, NULL},
    {"device_to_device_memcpy_write_tma", BY_BULK, &PUSH, NULL},
    {"device_to_device_bidirectional_memcpy_read_tma", BY_BULK, NULL, TWO_WINDOWS},
    {"device_to_device_bidirectional_memcpy_write_tma", BY_BULK, NULL, TWO_WINDOWS},
    {"device_local_copy", BY_CE, &LOCAL, NULL},
    {"device_local_copy_sm", BY_SM, &LOCAL, NULL},
    {"device_local_read_sm", BY_READ, &LOCAL, NULL},
    {"device_local_write_sm", BY_WRITE, &LOCAL, NULL},
    {"device_to_device_latency_tma", BY_BULK, NULL, LAUNCH},
    {"device_local_copy_tma", BY_BULK, &LOCAL, NULL},
};

const char *nvbandwidth_test_name(size_t number) {
  return number < COUNT_OF(DEFINITIONS) ? DEFINITIONS[number].name : NULL;
}

/* Below it, nvbandwidth's kernel has each thread repeat its own 16 bytes. */
static const uint64_t SM_SIZE_MIN = UINT64_C(64) << 20;

static const struct definition *nvbandwidth_find_definition(const char *name) {
  const size_t i = FIRST_OF(k, COUNT_OF(DEFINITIONS), strcmp(DEFINITIONS[k].name, name) == 0);
  return i < COUNT_OF(DEFINITIONS) ? &DEFINITIONS[i] : NULL;
}

static bool nvbandwidth_is_end(const struct endpoint *endpoint, enum end end, int32_t row,
                               int32_t column) {
  if (end == END_HOST) {
    return endpoint->place == PLACE_NUMA && endpoint->memory == MEMORY_PINNED;
  }
  const bool right = end == END_OTHERS ? endpoint->index != column
                                       : endpoint->index == (end == END_ROW ? row : column);
  return right && endpoint->place == PLACE_GPU && endpoint->memory == MEMORY_DEVICE;
}

static bool nvbandwidth_is_moved(const struct flow *flow, enum mover mover) {
  return flow->method == (mover == BY_CE ? METHOD_CE : METHOD_SM) && !flow->staged &&
         (flow->kernel.variant == KERNEL_BULK) == (mover == BY_BULK) &&
         !copy_shape_is_strided(&flow->shape);
}

static bool nvbandwidth_matches_stream(const struct stream *stream, enum mover mover,
                                       int32_t column) {
  return stream->op == (mover == BY_READ ? STREAM_READ : STREAM_WRITE) &&
         nvbandwidth_is_end(&stream->memory, END_COLUMN, column, column);
}

/* Whether all flows of the case are those of the test, and as many. */
static bool nvbandwidth_matches(const struct case_def *def, const struct definition *definition,
                                int32_t row, int32_t column, uint32_t device_count) {
  const struct test_shape *shape = definition->shape;
  const bool star = shape->source == END_OTHERS || shape->target == END_OTHERS;
  uint32_t measured = 0;
  uint32_t loads = 0;
  if (definition->mover == BY_READ || definition->mover == BY_WRITE) {
    return def->kind == CASE_STREAM &&
           nvbandwidth_matches_stream(&def->work->stream, definition->mover, column);
  }
  for (uint32_t i = 0; def->kind == CASE_TRANSFER && i < def->flow_count; i++) {
    const struct flow *flow = &def->flows[i];
    const bool load = flow->role == FLOW_LOAD;
    const enum end source = load ? shape->target : shape->source;
    const enum end target = load ? shape->source : shape->target;
    if (!nvbandwidth_is_moved(flow, definition->mover) ||
        (shape->initiator != ANY_INITIATOR && shape->initiator != (int)flow->initiator) ||
        !nvbandwidth_is_end(&flow->source, source, row, column) ||
        !nvbandwidth_is_end(&flow->target, target, row, column)) {
      return false;
    }
    measured += !load;
    loads += load;
  }
  /* A plan has each pair once; "all" of the file are its devices. */
  return measured > 0 && measured == (star ? device_count - 1 : 1) && loads == shape->loaded;
}

/* While values are being taken. */
struct taking {
  const struct plan *plan;
  const int32_t *gpu_of_device;
  size_t device_count;
  double *ns; /* of plan->cases[i]; 0 = none */
};

static const char *nvbandwidth_take_value(struct taking *taking,
                                          const struct definition *definition, int32_t row,
                                          int32_t column, double gbps) {
  for (size_t i = 0; i < taking->plan->case_count; i++) {
    const struct case_def *def = &taking->plan->cases[i].def;
    if (!nvbandwidth_matches(def, definition, row, column, (uint32_t)taking->device_count)) {
      continue;
    }
    if (taking->ns[i] > 0) {
      return "here it is the same case as another test's";
    }
    if (definition->mover == BY_SM && def->flows[0].size_bytes < SM_SIZE_MIN) {
      return "below 64 MiB, nvbandwidth's kernel copies the same bytes again and again";
    }
    taking->ns[i] = (double)def->payload_bytes / gbps; /* GB/s are bytes a ns */
    return NULL;
  }
  return "no case of the scenario nvbandwidth measures the same";
}

/* Why nothing of the test can be taken; NULL = its cells can. */
static const char *nvbandwidth_refuse_test(const struct taking *taking,
                                           const struct nvbandwidth_test *test,
                                           const struct definition *definition,
                                           struct arena *arena) {
  if (strcmp(test->status, "Running") == 0) {
    return arena_format(arena, "nvbandwidth ended while it ran%s%.300s",
                        test->detail != NULL ? ": " : "", test->detail != NULL ? test->detail : "");
  }
  if (strcmp(test->status, "Passed") != 0 && test->status[0] != '\0') {
    return arena_format(arena, "nvbandwidth says: %.40s%s%.300s", test->status,
                        test->detail != NULL ? ": " : "", test->detail != NULL ? test->detail : "");
  }
  if (definition == NULL) {
    return "not a test of nvbandwidth " NVBANDWIDTH_VERSIONS " that haul knows";
  }
  if (definition->shape == NULL) {
    return definition->reason;
  }
  const bool square = definition->shape == &PULL || definition->shape == &PUSH;
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
  *imported = (struct imported_test){
      .name = test->name,
      .values = SUM_OF(i, test->rows * test->columns, isnan(test->cells[i]) ? 0 : 1)};
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

/* The plan of what was taken. It holds cases that this machine would refuse as well. */
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
  const size_t named = file->device_count;
  struct taking taking = {.plan = plan,
                          .gpu_of_device = gpu_of_device,
                          .device_count = named > 0 ? named : plan->machine->gpu_count,
                          .ns = arena_array(arena, plan->case_count, sizeof(double))};
  cases->test_count = file->test_count;
  cases->tests = arena_array(arena, file->test_count, sizeof *cases->tests);
  for (size_t i = 0; i < file->test_count; i++) {
    nvbandwidth_take_test(&taking, &file->tests[i], arena, &cases->tests[i]);
  }
  nvbandwidth_keep_taken(&taking, arena, cases);
}

uint64_t nvbandwidth_usual_size_bytes(const struct nvbandwidth_file *file) {
  return (file->version >= 7 ? UINT64_C(512) : UINT64_C(64)) << 20;
}

void nvbandwidth_note(const struct nvbandwidth_file *file, struct notes *notes) {
  struct note note = {.kind = NOTE_IMPORTED,
                      .gpu = NOTE_NO_GPU,
                      .amounts = {(double)(nvbandwidth_usual_size_bytes(file) >> 20)}};
  (void)snprintf(note.what, sizeof note.what, "0.%u%s", file->version,
                 file->rounded ? ", rounded to 0.01 GB/s" : "");
  notes_add(notes, &note);
}
