#include "runner/expect/observed.h"

#include "engine/base/strings.h"
#include "engine/case/stream.h"
#include "engine/case/transfer.h"
#include "engine/case/visits.h"
#include "engine/machine/check.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

ENUM_NAMES_DEFINE(case_cell, CASE_CELL_LIST)

static const struct result_field hardware_fields[] = {
#define HARDWARE_FIELD_TEXT(column, member)                                                        \
  {column, offsetof(struct hardware, member), false, true},
#define HARDWARE_FIELD_NUMBER(column, member)                                                      \
  {column, offsetof(struct hardware, member), true, false},
    HARDWARE_LIST(HARDWARE_FIELD_TEXT, HARDWARE_FIELD_NUMBER)};

const char *observed_text(const struct observed_reader *reader, const struct cell *cells,
                          enum case_cell which) {
  const size_t column = reader->cells[which];
  if (column == SIZE_MAX || cells[column].kind != CELL_TEXT) {
    return NULL;
  }
  return arena_strndup(reader->arena, cells[column].as.text.bytes, cells[column].as.text.length);
}

double observed_number(const struct observed_reader *reader, const struct cell *cells,
                       enum case_cell which) {
  const size_t column = reader->cells[which];
  return column == SIZE_MAX                   ? NAN
         : cells[column].kind == CELL_INTEGER ? (double)cells[column].as.integer
         : cells[column].kind == CELL_REAL    ? cells[column].as.real
                                              : NAN;
}

/* The number of "gpu3" or "numa0"; -1: it is no such place. */
static int observed_place(const char *text, const char *kind) {
  const size_t length = strlen(kind);
  return text != NULL && strncmp(text, kind, length) == 0 ? (int)strtol(text + length, NULL, 10)
                                                          : -1;
}

static unsigned observed_word(const char *text, const char *const *names) {
  for (unsigned i = 0; text != NULL && names[i] != NULL; i++) {
    if (strcmp(text, names[i]) == 0) {
      return i;
    }
  }
  return EXPECT_ANY;
}

static unsigned observed_path(const struct observed *observed, const char *direction,
                              double flows) {
  const bool both = direction != NULL && strcmp(direction, "both") == 0;
  if (flows > 2 || (flows > 1 && !both)) {
    return EXPECT_SEVERAL;
  }
  const bool from_gpu = observed->gpus[0] >= 0;
  const bool to_gpu = observed->gpus[1] >= 0;
  if (from_gpu && to_gpu) {
    return observed->gpus[0] == observed->gpus[1] ? EXPECT_LOCAL
           : both                                 ? EXPECT_DEVICE_BOTH
                                                  : EXPECT_DEVICE_TO_DEVICE;
  }
  return from_gpu && both ? EXPECT_HOST_BOTH
         : to_gpu && both ? EXPECT_HOST_BOTH
         : from_gpu       ? EXPECT_DEVICE_TO_HOST
         : to_gpu         ? EXPECT_HOST_TO_DEVICE
                          : EXPECT_HOST_TO_HOST;
}

/* Whether every swept key is one that paths, sizes or rows name. */
static bool observed_axes_are_plain(const char *axes) {
  static const char *const KEYS[] = {
      "from.", "to.",       "of.", "at.",       "memory", "size", "footprint", "method",
      "space", "direction", "op",  "operation", "pairs",  "type", "initiator", NULL};
  while (axes != NULL && axes[0] != '\0') {
    bool known = false;
    for (size_t i = 0; KEYS[i] != NULL; i++) {
      const size_t length = strlen(KEYS[i]);
      known = known || (strncmp(axes, KEYS[i], length) == 0 &&
                        (axes[length] == '=' || KEYS[i][length - 1] == '.'));
    }
    if (!known) {
      return false;
    }
    axes += strcspn(axes, " ");
    axes += strspn(axes, " ");
  }
  return true;
}

bool observed_is_near(const struct observed_reader *reader, const struct observed *observed) {
  for (size_t i = 0; i < reader->gpu_count; i++) {
    const struct hardware *gpu = &reader->gpus[i];
    const int number = observed_place(gpu->gpu, "gpu");
    if (observed->node >= 0 && (number == observed->gpus[0] || number == observed->gpus[1]) &&
        gpu->numa_node >= 0 && (int)gpu->numa_node != observed->node) {
      return false;
    }
  }
  return true;
}

/* The interval of the value, whose times are in those cells. Of several processes the slowest and
 * the fastest are known, not how well their middle is. */
static void observed_read_interval(const struct observed_reader *reader, const struct cell *cells,
                                   enum case_cell middle_ns, enum case_cell low_ns,
                                   enum case_cell high_ns, struct observed *observed) {
  const double middle = observed_number(reader, cells, middle_ns);
  const double low = observed_number(reader, cells, low_ns) / middle; /* NAN stays NAN */
  const double high = observed_number(reader, cells, high_ns) / middle;
  const bool known = observed_number(reader, cells, CELL_PROCESSES) == 1 && low > 0 && high > 0;
  observed->low = observed->high = observed->value;
  if (known) {
    observed->low *= observed->time ? low : 1 / high;
    observed->high *= observed->time ? high : 1 / low;
  }
}

/* A level that others made is not sure: beside a neighbour that never rests, trials agree by
 * chance. On an H100 the intervals of such levels were wider than the limit: 0.8 to 1.9 %. */
static const double LEVEL_WIDE = 0.0075;
static const double LEVEL_DISTURBED_PERCENT = 5;

static bool observed_is_level_sure(const struct observed_reader *reader, const struct cell *cells,
                                   const struct observed *observed) {
  const double low = observed_number(reader, cells, CELL_UNDISTURBED_LOW);
  const double high = observed_number(reader, cells, CELL_UNDISTURBED_HIGH);
  return !(observed->disturbed_percent >= LEVEL_DISTURBED_PERCENT) ||
         (high / low - 1) / 2 <= LEVEL_WIDE;
}

/* Noise of others is no fault of what is judged: of several visits the undisturbed rate, or else
 * the best that two of them reached. */
static void observed_read_undisturbed(const struct observed_reader *reader,
                                      const struct cell *cells, struct observed *observed) {
  const double median = observed_number(reader, cells, CELL_MEDIAN);
  const double undisturbed = observed_number(reader, cells, CELL_UNDISTURBED);
  const char *settled = observed_text(reader, cells, CELL_SETTLED);
  const bool known = undisturbed > 0;
  if (known) {
    observed->disturbed_percent = observed_number(reader, cells, CELL_DISTURBED);
    observed->slower_percent = observed_number(reader, cells, CELL_DISTURBED_SLOWER);
  }
  observed->revisited =
      observed_number(reader, cells, CELL_VISITS) > observed_number(reader, cells, CELL_PROCESSES);
  observed->all_disturbed = (strings_equal(settled, settled_text(SETTLED_BUDGET)) ||
                             strings_equal(settled, settled_text(SETTLED_NOISE))) &&
                            !(known && observed_is_level_sure(reader, cells, observed)) &&
                            observed_text(reader, cells, CELL_SLOWED) == NULL;
  observed->spread =
      observed_number(reader, cells, CELL_P95) / observed_number(reader, cells, CELL_FASTEST) - 1;
  const double best = observed->all_disturbed /* fmin: of NAN the other */
                          ? fmin(undisturbed, observed_number(reader, cells, CELL_REACHED))
                          : undisturbed;
  if (observed->revisited && best > 0) {
    observed->value *= observed->time ? best / median : median / best;
    observed_read_interval(reader, cells, CELL_UNDISTURBED, CELL_UNDISTURBED_LOW,
                           CELL_UNDISTURBED_HIGH, observed);
  }
}

bool observed_read(const struct observed_reader *reader, const struct cell *cells,
                   struct observed *observed) {
  const char *status = observed_text(reader, cells, CELL_STATUS);
  if (status == NULL || strcmp(status, "ok") != 0 ||
      observed_text(reader, cells, CELL_SAME) != NULL) {
    return false;
  }
  const char *source = observed_text(reader, cells, CELL_SOURCE);
  const char *target = observed_text(reader, cells, CELL_TARGET);
  const double gbps = observed_number(reader, cells, CELL_GBPS);
  const double hop = observed_number(reader, cells, CELL_HOP);
  const double size = observed_number(reader, cells, CELL_SIZE);
  *observed = (struct observed){
      .block = observed_text(reader, cells, CELL_BLOCK),
      .axes = observed_text(reader, cells, CELL_AXES),
      .kind = observed_word(observed_text(reader, cells, CELL_KIND), case_kind_names),
      .method = observed_word(observed_text(reader, cells, CELL_METHOD), method_names),
      .operation = observed_word(observed_text(reader, cells, CELL_OPERATION), stream_op_names),
      .initiator = observed_word(observed_text(reader, cells, CELL_INITIATOR), initiator_names),
      .size = size >= 1 ? (uint64_t)size : 0,
      .above_peak = observed_number(reader, cells, CELL_ABOVE_PEAK) > 0,
      .time = isnan(gbps),
      .value = isnan(gbps) ? hop : gbps,
      .gpus = {observed_place(source, "gpu"), observed_place(target, "gpu")},
      .node = observed_place(observed_place(source, "numa") >= 0 ? source : target, "numa"),
  };
  if (observed->kind == CASE_OVERHEAD) {
    observed->value = observed_number(reader, cells, CELL_MEDIAN); /* of one call */
  }
  if (observed->kind == CASE_STREAM && target == NULL) { /* works where its memory is */
    observed->gpus[1] = observed->gpus[0];
  }
  observed_read_interval(reader, cells, CELL_MEDIAN, CELL_LOW, CELL_HIGH, observed);
  observed_read_undisturbed(reader, cells, observed);
  const char *memory = observed_text(
      reader, cells, observed->gpus[0] >= 0 ? CELL_TARGET_MEMORY : CELL_SOURCE_MEMORY);
  observed->memory = observed_word(memory, memory_kind_names);
  observed->path = observed_path(observed, observed_text(reader, cells, CELL_DIRECTION),
                                 observed_number(reader, cells, CELL_FLOWS));
  observed->plain = !(observed_number(reader, cells, CELL_LOAD) > 0) &&
                    !(observed_number(reader, cells, CELL_SPECIAL) > 0) &&
                    observed_axes_are_plain(observed->axes);
  observed->near = observed_is_near(reader, observed);
  if (observed->kind == CASE_OVERHEAD) { /* which call it is stands in block and axes */
    observed->path = EXPECT_CALL;
    observed->plain = false;
  }
  return !isnan(observed->value);
}

void observed_begin(struct observed_reader *reader, struct arena *arena,
                    const struct result_set *hardware) {
  *reader = (struct observed_reader){.arena = arena,
                                     .gpus = result_set_bind(hardware, arena, hardware_fields,
                                                             COUNT_OF(hardware_fields),
                                                             sizeof(struct hardware)),
                                     .gpu_count = hardware->row_count};
}

void observed_columns(struct observed_reader *reader, const struct column *columns, size_t count) {
  columns_number(columns, count, case_cell_names, reader->cells);
}

const struct hardware *observed_gpu(const struct observed_reader *reader, int number) {
  const size_t found =
      FIRST_OF(i, reader->gpu_count, observed_place(reader->gpus[i].gpu, "gpu") == number);
  return found < reader->gpu_count ? &reader->gpus[found] : NULL;
}

/* ---- which rows are of it ---- */

static bool observed_is(uint32_t wanted, double found) {
  return wanted == 0 || (found >= wanted && found <= wanted);
}

/* PCIe is asked for between the host and a GPU, NVLink between two: of several flows, the first. */
static bool observed_gpu_fits(const struct expect_machine *machine, const struct hardware *gpu,
                              const struct observed *observed) {
  const int *gpus = observed->gpus;
  const bool host = (gpus[0] >= 0) != (gpus[1] >= 0);
  const bool peer = gpus[0] >= 0 && gpus[1] >= 0 && gpus[0] != gpus[1];
  return gpu != NULL && gpu->name != NULL && fnmatch(machine->gpu, gpu->name, FNM_CASEFOLD) == 0 &&
         machine->simulated == (gpu->simulated > 0) && (!machine->c2c || gpu->c2c > 0) &&
         (!host || (observed_is(machine->pcie_generation, gpu->pcie_generation) &&
                    observed_is(machine->pcie_width, gpu->pcie_width))) &&
         (!peer || (observed_is(machine->nvlink_version, gpu->nvlink_version) &&
                    observed_is(machine->nvlink_links, gpu->nvlink_links))) &&
         (machine->driver == NULL || (gpu->driver_version != NULL &&
                                      check_version_fits(machine->driver, gpu->driver_version)));
}

bool observed_machine_fits(const struct observed_reader *reader,
                           const struct expect_machine *machine, const struct observed *observed) {
  bool any = false;
  for (size_t i = 0; i < 2; i++) {
    if (observed->gpus[i] >= 0) {
      any = true;
      if (!observed_gpu_fits(machine, observed_gpu(reader, observed->gpus[i]), observed)) {
        return false;
      }
    }
  }
  /* Of the host alone: a machine whose first GPU is such a one. */
  return any || (reader->gpu_count > 0 && observed_gpu_fits(machine, &reader->gpus[0], observed));
}

static bool observed_word_fits(unsigned wanted, unsigned found) {
  return wanted == EXPECT_ANY || wanted == found;
}

static bool observed_glob_fits(const char *glob, const char *text) {
  return glob == NULL || fnmatch(glob, text != NULL ? text : "", 0) == 0;
}

static bool observed_memory_fits(const struct expect_row *row, const struct observed *observed) {
  if (observed->node < 0 || row->memory != EXPECT_ANY || row->block != NULL) {
    return observed_word_fits(row->memory, observed->memory);
  }
  return observed->path == EXPECT_HOST_TO_HOST || observed->memory == MEMORY_PINNED;
}

bool observed_row_fits(const struct expect_row *row, const struct observed *observed) {
  return row->kind == observed->kind && observed_word_fits(row->path, observed->path) &&
         observed_word_fits(row->method, observed->method) &&
         observed_word_fits(row->operation, observed->operation) &&
         observed_word_fits(row->initiator, observed->initiator) &&
         observed_memory_fits(row, observed) && observed_glob_fits(row->block, observed->block) &&
         observed_glob_fits(row->axes, observed->axes) &&
         (row->block != NULL || (observed->plain && observed->near)) &&
         observed->size >= row->size_min &&
         (row->size_max == 0 || (observed->size > 0 && observed->size <= row->size_max)) &&
         expect_unit_is_time((enum expect_unit)row->unit) == observed->time;
}
