#include "tests/fake_cuda/driver/kernels.h"

#include "engine/base/macros.h"
#include "kernels/pattern_values.h"
#include "tests/fake_cuda/driver/contents.h"
#include "tests/fake_cuda/driver/stream.h"

#include <string.h>

void *kernel_place(struct kernel_launch *launch, uint64_t address, uint64_t size_bytes) {
  struct memory_place place;
  bool inside = memory_locate(address, size_bytes, &place);
  int32_t gpu = launch->context->gpu;
  const struct allocation *allocation = place.allocation;
  bool reachable = inside && allocation != NULL;
  if (reachable && allocation->kind == ALLOCATION_DEVICE && allocation->gpu != gpu) {
    reachable = launch->context->peers[allocation->gpu] &&
                (!allocation->for_one || allocation->user == gpu);
  }
  if (allocation == NULL && size_bytes > 0) {
    const struct machine *machine = &streams_links()->config->machine;
    reachable = machine->gpus[gpu].host_page_tables && address != 0;
    place.data = (unsigned char *)(uintptr_t)address;
  }
  if (!reachable) {
    launch->illegal = true;
    return NULL;
  }
  return place.data;
}

void *kernel_memory(struct kernel_launch *launch, uint64_t address, uint64_t size_bytes) {
  void *bytes = kernel_place(launch, address, size_bytes);
  if (bytes != NULL) {
    contents_need(bytes, size_bytes);
  }
  return bytes;
}

static void gate_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(gate_arguments, gate, launch);
  *accesses = (struct kernel_accesses){
      .count = 2, .items = {{gate.flag, 4, 0, false}, {gate.report, 4, 0, true}}};
}

static bool gate_poll(struct kernel_launch *launch, uint64_t waited_ns) {
  ARGUMENTS(gate_arguments, gate, launch);
  uint32_t *flag = kernel_memory(launch, gate.flag, sizeof *flag);
  if (launch->illegal) {
    return true;
  }
  if (!launch->flag_ignored && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == gate.open) {
    return true;
  }
  launch->timed_out = waited_ns >= gate.timeout_ns;
  return launch->timed_out;
}

static void gate_run(struct kernel_launch *launch) {
  ARGUMENTS(gate_arguments, gate, launch);
  uint32_t *report = kernel_memory(launch, gate.report, sizeof *report);
  if (report != NULL) {
    uint32_t answer = launch->timed_out ? GATE_TIMED_OUT : GATE_OPENED;
    __atomic_store_n(report, answer, __ATOMIC_RELEASE);
  }
}

static void fill_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_fill_arguments, fill, launch);
  *accesses = (struct kernel_accesses){
      .count = 1, .items = {{fill.address, fill.size_bytes, fill.size_bytes, true}}};
}

static void fill_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_fill_arguments, fill, launch);
  unsigned char *bytes = kernel_place(launch, fill.address, fill.size_bytes);
  if (bytes != NULL) {
    contents_fill(bytes, fill.size_bytes, fill.seed, fill.complement != 0);
  }
}

static void compare_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_compare_arguments, compare, launch);
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{compare.address, compare.size_bytes, compare.size_bytes, false},
                {compare.result, sizeof(struct pattern_compare_result), 0, true}}};
}

static void compare_range(const unsigned char *bytes, uint64_t seed, uint64_t from, uint64_t to,
                          struct pattern_compare_result *result) {
  for (uint64_t offset = from; offset < to; offset++) {
    if (bytes[offset] != pattern_byte(seed, offset)) {
      result->bad_bytes++;
      if (offset < result->first_offset) {
        result->first_offset = offset;
      }
    }
  }
}

static void compare_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_compare_arguments, compare, launch);
  const unsigned char *bytes = kernel_place(launch, compare.address, compare.size_bytes);
  struct pattern_compare_result *result = kernel_memory(launch, compare.result, sizeof *result);
  if (bytes == NULL || result == NULL || contents_known(bytes, compare.size_bytes, compare.seed)) {
    return;
  }
  contents_need(bytes, compare.size_bytes);
  uint64_t offset = 0;
  for (; offset + 8 <= compare.size_bytes; offset += 8) {
    uint64_t word;
    memcpy(&word, bytes + offset, sizeof word);
    if (word != pattern_word(compare.seed, offset / 8)) {
      compare_range(bytes, compare.seed, offset, offset + 8, result);
    }
  }
  compare_range(bytes, compare.seed, offset, compare.size_bytes, result);
}

/* Which side crosses a link decides the time; both are checked. */
static void copy_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(copy_arguments, copy, launch);
  *accesses =
      (struct kernel_accesses){.count = 2,
                               .items = {{copy.source, copy.size_bytes, copy.size_bytes, false},
                                         {copy.target, copy.size_bytes, copy.size_bytes, true}}};
}

static void copy_run(struct kernel_launch *launch) {
  ARGUMENTS(copy_arguments, copy, launch);
  const unsigned char *source = kernel_place(launch, copy.source, copy.size_bytes);
  unsigned char *target = kernel_place(launch, copy.target, copy.size_bytes);
  if (source != NULL && target != NULL) {
    contents_copy(target, source, copy.size_bytes);
  }
}

static void copy_pair_accesses(const struct kernel_launch *launch,
                               struct kernel_accesses *accesses) {
  ARGUMENTS(copy_pair_arguments, pair, launch);
  *accesses = (struct kernel_accesses){0};
  for (int i = 0; i < 2; i++) {
    const struct copy_arguments *copy = &pair.copies[i];
    accesses->items[accesses->count++] =
        (struct kernel_access){copy->source, copy->size_bytes, copy->size_bytes, false};
    accesses->items[accesses->count++] =
        (struct kernel_access){copy->target, copy->size_bytes, copy->size_bytes, true};
  }
}

static void copy_pair_run(struct kernel_launch *launch) {
  ARGUMENTS(copy_pair_arguments, pair, launch);
  for (int i = 0; i < 2; i++) {
    const struct copy_arguments *copy = &pair.copies[i];
    const unsigned char *source = kernel_place(launch, copy->source, copy->size_bytes);
    unsigned char *target = kernel_place(launch, copy->target, copy->size_bytes);
    if (source != NULL && target != NULL) {
      contents_copy(target, source, copy->size_bytes);
    }
  }
}

static uint64_t rows_extent(uint64_t width_bytes, uint64_t pitch_bytes, uint64_t rows) {
  return rows == 0 ? 0 : (rows - 1) * pitch_bytes + width_bytes;
}

static void copy_rows_accesses(const struct kernel_launch *launch,
                               struct kernel_accesses *accesses) {
  ARGUMENTS(copy_rows_arguments, copy, launch);
  uint64_t extent = rows_extent(copy.width_bytes, copy.pitch_bytes, copy.rows);
  uint64_t moved = copy.width_bytes * copy.rows;
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{copy.source, extent, moved, false}, {copy.target, extent, moved, true}}};
}

static void copy_rows_run(struct kernel_launch *launch) {
  ARGUMENTS(copy_rows_arguments, copy, launch);
  uint64_t extent = rows_extent(copy.width_bytes, copy.pitch_bytes, copy.rows);
  uint64_t unit = copy.vector_bytes;
  if (unit == 0 || (copy.source | copy.target | copy.width_bytes | copy.pitch_bytes) % unit != 0) {
    launch->illegal = true; /* a misaligned access */
    return;
  }
  const unsigned char *source = kernel_memory(launch, copy.source, extent);
  unsigned char *target = kernel_memory(launch, copy.target, extent);
  for (uint64_t row = 0; source != NULL && target != NULL && row < copy.rows; row++) {
    copy_bytes(target + row * copy.pitch_bytes, source + row * copy.pitch_bytes, copy.width_bytes);
  }
}

static void pattern_rows_accesses(const struct kernel_launch *launch,
                                  struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_rows_arguments, fill, launch);
  uint64_t extent = rows_extent(fill.width_bytes, fill.pitch_bytes, fill.rows);
  *accesses = (struct kernel_accesses){
      .count = 1, .items = {{fill.address, extent, fill.width_bytes * fill.rows, true}}};
}

static void pattern_rows_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_rows_arguments, fill, launch);
  unsigned char *bytes = kernel_memory(launch, fill.address,
                                       rows_extent(fill.width_bytes, fill.pitch_bytes, fill.rows));
  unsigned char flip = fill.complement ? 0xff : 0;
  for (uint64_t row = 0; bytes != NULL && row < fill.rows; row++) {
    uint64_t start = row * fill.pitch_bytes;
    for (uint64_t offset = start; offset < start + fill.width_bytes; offset++) {
      bytes[offset] = (unsigned char)(pattern_byte(fill.seed, offset) ^ flip);
    }
  }
}

static const struct piece *pieces_list(struct kernel_launch *launch, uint64_t list,
                                       uint64_t pieces) {
  return kernel_memory(launch, list, pieces * sizeof(struct piece));
}

/* From the first byte of the buffer to the last byte of its last piece. */
static uint64_t pieces_extent(const struct kernel_launch *launch, uint64_t list, uint64_t pieces,
                              uint64_t piece_bytes, bool at_target) {
  struct kernel_launch look = *launch;
  const struct piece *piece = pieces_list(&look, list, pieces);
  uint64_t end = 0;
  for (uint64_t i = 0; piece != NULL && i < pieces; i++) {
    uint64_t start = at_target ? piece[i].target : piece[i].source;
    end = start + piece_bytes > end ? start + piece_bytes : end;
  }
  return end;
}

static void copy_pieces_accesses(const struct kernel_launch *launch,
                                 struct kernel_accesses *accesses) {
  ARGUMENTS(copy_pieces_arguments, copy, launch);
  uint64_t moved = copy.pieces * copy.piece_bytes;
  uint64_t source = pieces_extent(launch, copy.list, copy.pieces, copy.piece_bytes, false);
  uint64_t target = pieces_extent(launch, copy.list, copy.pieces, copy.piece_bytes, true);
  *accesses = (struct kernel_accesses){
      .count = 3,
      .items = {{copy.source, source, moved, false},
                {copy.target, target, moved, true},
                {copy.list, copy.pieces * sizeof(struct piece), 0, false}}};
}

static void copy_pieces_run(struct kernel_launch *launch) {
  ARGUMENTS(copy_pieces_arguments, copy, launch);
  const struct piece *list = pieces_list(launch, copy.list, copy.pieces);
  for (uint64_t i = 0; list != NULL && i < copy.pieces; i++) {
    const struct piece piece = list[i];
    if (copy.vector_bytes == 0 ||
        (copy.source | copy.target | copy.piece_bytes | piece.source | piece.target) %
                copy.vector_bytes !=
            0) {
      launch->illegal = true; /* a misaligned access */
      return;
    }
    const unsigned char *source =
        kernel_memory(launch, copy.source + piece.source, copy.piece_bytes);
    unsigned char *target = kernel_memory(launch, copy.target + piece.target, copy.piece_bytes);
    if (source == NULL || target == NULL) {
      return;
    }
    copy_bytes(target, source, copy.piece_bytes);
  }
}

static void pattern_pieces_accesses(const struct kernel_launch *launch,
                                    struct kernel_accesses *accesses) {
  ARGUMENTS(pattern_pieces_arguments, fill, launch);
  uint64_t extent =
      pieces_extent(launch, fill.list, fill.pieces, fill.piece_bytes, fill.at_target != 0);
  *accesses = (struct kernel_accesses){
      .count = 2,
      .items = {{fill.address, extent, fill.pieces * fill.piece_bytes, true},
                {fill.list, fill.pieces * sizeof(struct piece), 0, false}}};
}

static void pattern_pieces_run(struct kernel_launch *launch) {
  ARGUMENTS(pattern_pieces_arguments, fill, launch);
  const struct piece *list = pieces_list(launch, fill.list, fill.pieces);
  const uint64_t extent =
      pieces_extent(launch, fill.list, fill.pieces, fill.piece_bytes, fill.at_target != 0);
  unsigned char *bytes = kernel_memory(launch, fill.address, extent);
  const unsigned char flip = fill.complement ? 0xff : 0;
  for (uint64_t i = 0; list != NULL && bytes != NULL && i < fill.pieces; i++) {
    unsigned char *piece = bytes + (fill.at_target ? list[i].target : list[i].source);
    for (uint64_t k = 0; k < fill.piece_bytes; k++) {
      piece[k] = (unsigned char)(pattern_byte(fill.seed, list[i].target + k) ^ flip);
    }
  }
}

/* Every page that is touched moves whole. */
static void touch_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  ARGUMENTS(touch_arguments, touch, launch);
  *accesses = (struct kernel_accesses){
      .count = 1, .items = {{touch.address, touch.size_bytes, touch.size_bytes, touch.sum == 0}}};
}

static void touch_run(struct kernel_launch *launch) {
  ARGUMENTS(touch_arguments, touch, launch);
  unsigned char *bytes = kernel_memory(launch, touch.address, touch.size_bytes);
  unsigned char flip = touch.complement ? 0xff : 0;
  const uint64_t count = (touch.size_bytes - 1) / touch.stride_bytes + 1;
  uint64_t sum = 0;
  for (uint64_t i = 0; bytes != NULL && i < count * touch.passes; i++) {
    const uint64_t place = touch.random ? pattern_shuffled(i % count, count) : i % count;
    unsigned char *byte = &bytes[place * touch.stride_bytes];
    sum += *byte;
    if (touch.sum == 0) {
      *byte = (unsigned char)(pattern_byte(touch.seed, place * touch.stride_bytes) ^ flip);
    }
  }
  uint64_t *result = touch.sum != 0 ? kernel_memory(launch, touch.sum, sizeof *result) : NULL;
  if (result != NULL) {
    *result += sum;
  }
}

static void empty_accesses(const struct kernel_launch *launch, struct kernel_accesses *accesses) {
  *accesses = (struct kernel_accesses){0};
}

static void empty_run(struct kernel_launch *launch) {}

#define ROW(id, arguments, name)                                                                   \
  { id, sizeof(struct arguments##_arguments), name##_accesses, name##_run, NULL }
#define STREAM_ROW(id, name)     ROW(id, stream, stream),
#define ARITHMETIC_ROW(id, name) ROW(id, arithmetic, arithmetic),

/* One row per kernel of kernels/kernels.h; test_kernels.c holds it against that list. */
static const struct fake_kernel kernels[] = {
    {KERNEL_GATE, sizeof(struct gate_arguments), gate_accesses, gate_run, gate_poll},
    ROW(KERNEL_PATTERN_FILL, pattern_fill, fill),
    ROW(KERNEL_PATTERN_COMPARE, pattern_compare, compare),
    ROW(KERNEL_COPY_1, copy, copy),
    ROW(KERNEL_COPY_2, copy, copy),
    ROW(KERNEL_COPY_4, copy, copy),
    ROW(KERNEL_COPY_8, copy, copy),
    ROW(KERNEL_COPY_16, copy, copy),
    ROW(KERNEL_COPY_BULK, copy, copy),
    ROW(KERNEL_COPY_PAIR, copy_pair, copy_pair),
    ROW(KERNEL_COPY_ROWS, copy_rows, copy_rows),
    ROW(KERNEL_PATTERN_ROWS, pattern_rows, pattern_rows),
    ROW(KERNEL_COPY_PIECES, copy_pieces, copy_pieces),
    ROW(KERNEL_PATTERN_PIECES, pattern_pieces, pattern_pieces),
    ROW(KERNEL_TOUCH, touch, touch),
    ROW(KERNEL_EMPTY, empty, empty),
    ROW(KERNEL_EMPTY_4K, empty, empty), /* nobody reads the rest of its arguments */
    ROW(KERNEL_CHASE_SYS, chase, chase),
    ROW(KERNEL_CHASE_L1, chase, chase),
    ROW(KERNEL_CHASE_L2, chase, chase),
    ROW(KERNEL_CHASE_L1_U32, chase, chase),
    ROW(KERNEL_CHASE_L2_U32, chase, chase),
    ROW(KERNEL_CHASE_SHARED, chase, chase),
    ROW(KERNEL_CHASE_BULK, chase, chase),
    ROW(KERNEL_CHASE_LINES, chase_lines, chase_lines),
    {KERNEL_STREAM_FILL, sizeof(struct stream_data_arguments), stream_data_accesses,
     stream_fill_run, NULL},
    {KERNEL_STREAM_COMPARE, sizeof(struct stream_data_arguments), stream_data_accesses,
     stream_compare_run, NULL},
    KERNEL_STREAM_LIST(STREAM_ROW) KERNEL_ARITHMETIC_LIST(ARITHMETIC_ROW)
        ROW(KERNEL_COMPUTE_MATMUL, matmul, matmul),
    ROW(KERNEL_COMPUTE_MATMUL_GROUPS, matmul, matmul),
    ROW(KERNEL_COMPUTE_FMA, fma, fma),
    ROW(KERNEL_COMPUTE_TRIAD, triad, triad),
    ROW(KERNEL_COMPUTE_FILL, compute_data, compute_data),
    ROW(KERNEL_COMPUTE_CHECK_FMA, compute_check, compute_check),
    ROW(KERNEL_COMPUTE_CHECK_TRIAD, compute_check, compute_check),
    ROW(KERNEL_COMPUTE_CHECK_MATMUL, compute_check, compute_check),
    {KERNEL_SIGNAL_FLAG, sizeof(struct signal_flag_arguments), signal_flag_accesses,
     signal_flag_run, signal_flag_poll},
    ROW(KERNEL_SIGNAL_ATOMIC, signal_atomic, signal_atomic),
    ROW(KERNEL_SIGNAL_ATOMICS, signal_atomic, signal_atomic)};

const struct fake_kernel *kernel_find(const char *name) {
  for (size_t i = 0; i < COUNT_OF(kernels); i++) {
    if (strcmp(kernel_text(kernels[i].kernel), name) == 0) {
      return &kernels[i];
    }
  }
  return NULL;
}
