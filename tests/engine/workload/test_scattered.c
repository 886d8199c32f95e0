/* Scattered copies: every piece goes where it must and nothing else is written; one wrong byte is
 * found and named; the time per piece has the shape that was seen on real GPUs. */
#include "engine/method/method.h"
#include "engine/workload/pieces.h"
#include "tests/engine/workload/fixture.h"

static struct flow scattered(enum method method, struct endpoint source, struct endpoint target,
                             uint64_t pieces, uint64_t piece_bytes) {
  return (struct flow){.method = method,
                       .source = source,
                       .target = target,
                       .initiator = INITIATOR_SOURCE,
                       .size_bytes = pieces * piece_bytes,
                       .scatter = {.pieces = pieces, .piece_bytes = piece_bytes}};
}

static struct flow batch(struct endpoint source, struct endpoint target, uint64_t pieces,
                         uint64_t piece_bytes) {
  struct flow flow = scattered(METHOD_CE, source, target, pieces, piece_bytes);
  flow.scatter.submit = SUBMIT_BATCH;
  return flow;
}

static int by_value(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left;
  const uint64_t b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* The places at one end: whole, apart, in bounds. True: in ascending order. */
static bool check_places(uint64_t *places, const struct scatter_shape *scatter) {
  bool ascending = true;
  for (uint64_t i = 1; i < scatter->pieces; i++) {
    ascending = ascending && places[i] > places[i - 1];
  }
  qsort(places, scatter->pieces, sizeof *places, by_value);
  for (uint64_t i = 0; i < scatter->pieces; i++) {
    assert_true(places[i] % scatter->piece_bytes == 0);
    assert_true(i == 0 || places[i] > places[i - 1]);
  }
  assert_true(places[scatter->pieces - 1] <
              SCATTER_SPREAD * scatter->pieces * scatter->piece_bytes);
  return ascending;
}

TEST(places_are_apart) {
  static const uint64_t counts[] = {1, 2, 3, 1000, 100000};
  for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
    const struct scatter_shape scatter = {.pieces = counts[i / 2],
                                          .piece_bytes = 7,
                                          .places = i % 2 == 0 ? PIECES_RANDOM : PIECES_STRIDED};
    SCOPED(memory_free) struct piece *list = calloc(scatter.pieces, sizeof *list);
    uint64_t *ends[] = {calloc(scatter.pieces, sizeof(uint64_t)),
                        calloc(scatter.pieces, sizeof(uint64_t))};
    assert_true(list != NULL && ends[0] != NULL && ends[1] != NULL);
    assert_int_equal(pieces_place(&scatter, list, NULL), STATUS_OK);
    uint64_t same = 0;
    for (uint64_t k = 0; k < scatter.pieces; k++) {
      ends[0][k] = list[k].source;
      ends[1][k] = list[k].target;
      same += list[k].source == list[k].target;
    }
    for (int end = 0; end < 2; end++) {
      const bool ascending = check_places(ends[end], &scatter);
      assert_true(scatter.pieces < 1000 || ascending == (scatter.places == PIECES_STRIDED));
      free(ends[end]);
    }
    assert_true(scatter.pieces < 1000 ||
                (scatter.places == PIECES_STRIDED ? same == scatter.pieces : same < 20));
  }
}

/* Verified, without a gate, timed by both clocks. */
static void run_pieces(struct fixture *fixture, struct flow flow) {
  struct case_def def = fixture_transfer(&flow, 1);
  fixture_run_ok(fixture, &def);
  assert_true(fixture->outcome.clock == CLOCK_HOST && !fixture->outcome.gated);
  assert_true(notes_have(&fixture->outcome.notes, NOTE_SCATTERED_TIME));
  for (uint32_t i = 0; i < fixture->trial_count; i++) {
    const struct trial *trial = &fixture->trials[i];
    assert_true(trial->iterations == 1 && trial->gpu_ns > 0 && trial->submit_ns > 0);
    assert_true(trial->submit_ns <= trial->elapsed_ns);
  }
}

TEST(pieces_arrive, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint pageable = fixture_node(0, MEMORY_PAGEABLE);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  const struct endpoint peer = fixture_gpu(1, MEMORY_DEVICE);
  const struct endpoint ends[][2] = {{host, gpu}, {gpu, host}, {gpu, peer}, {gpu, gpu}};
  static const uint64_t sizes[][2] = {{1, 1}, {5, 4096}, {301, 13}, {64, 33000}, {1000, 656}};
  for (size_t i = 0; i < COUNT_OF(ends); i++) {
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
      struct flow flow = scattered(METHOD_CE, ends[i][0], ends[i][1], sizes[k][0], sizes[k][1]);
      flow.scatter.places = k % 2 == 0 ? PIECES_RANDOM : PIECES_STRIDED;
      run_pieces(fixture, flow);
      flow.scatter.submit = SUBMIT_BATCH;
      flow.scatter.order = (enum batch_order)(k % batch_order_name_count);
      flow.scatter.overlap = k == 1;
      run_pieces(fixture, flow);
      flow.method = METHOD_SM;
      run_pieces(fixture, flow);
    }
  }
  run_pieces(fixture, scattered(METHOD_CE, pageable, gpu, 9, 1000));
  run_pieces(fixture, batch(gpu, pageable, 9, 1000));
  struct flow staged = scattered(METHOD_CE, gpu, peer, 9, 1000);
  staged.staged = true;
  run_pieces(fixture, staged);
}

TEST(million_pieces_arrive, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  struct flow flow = batch(host, gpu, 1000000, 16);
  struct case_def def = fixture_transfer(&flow, 1);
  uint64_t host_bytes = 0;
  uint64_t gpu_bytes[MACHINE_GPUS_MAX] = {0};
  engine_memory_needs(&def, fixture->machine, &host_bytes, gpu_bytes);
  assert_true(host_bytes == 2 * flow.size_bytes + 40 * flow.scatter.pieces);
  run_pieces(fixture, flow);
  flow.method = METHOD_SM;
  run_pieces(fixture, flow);
}

TEST(two_directions_at_once_arrive, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  const struct flow flows[] = {scattered(METHOD_CE, host, gpu, 100, 5000),
                               scattered(METHOD_SM, gpu, host, 100, 5000),
                               fixture_flow(METHOD_CE, host, gpu, 1 << 20)};
  struct case_def def = fixture_transfer(flows, 3);
  fixture_run_ok(fixture, &def);
  assert_int_equal(fixture->outcome.clock, CLOCK_HOST);
}

static void corrupted(struct fixture *fixture, struct flow flow, const char *why) {
  struct case_def def = fixture_transfer(&flow, 1);
  fixture_fails(fixture, &def, CASE_CORRUPT, why);
}

TEST(one_wrong_byte_is_found_and_named, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  corrupted(fixture, scattered(METHOD_CE, host, gpu, 1000, 48), ", byte 17 of piece 776: expected");
  corrupted(fixture, batch(host, gpu, 100000, 48), ", byte 5 of piece 77777: expected");
  corrupted(fixture, scattered(METHOD_SM, host, fixture_gpu(3, MEMORY_DEVICE), 10, 48),
            "480 of 960 bytes differ");
}

TEST(a_byte_between_pieces_is_named) {
  struct piece list[] = {{0, 30}, {20, 0}};
  const struct buffer pieces = {.host = (unsigned char *)list};
  const struct flow flow = {.scatter = {.pieces = 2, .piece_bytes = 10}};
  const struct flow_run run = {.flow = &flow, .pieces = &pieces};
  char text[96];
  pieces_describe(&run, 37, text, sizeof text);
  assert_string_equal(text, "byte 7 of piece 0");
  pieces_describe(&run, 9, text, sizeof text);
  assert_string_equal(text, "byte 9 of piece 1");
  pieces_describe(&run, 15, text, sizeof text);
  assert_string_equal(text, "between the pieces, where nothing is to be written");
}

/* GB/s by the GPU's clock, which the fake driver simulates. */
static double rate(struct fixture *fixture, struct flow flow) {
  struct case_def def = fixture_transfer(&flow, 1);
  def.measure.verify = VERIFY_OFF;
  fixture_run(fixture, &def);
  assert_int_equal(fixture->outcome.status, CASE_OK);
  return (double)flow.size_bytes / (double)fixture->trials[fixture->trial_count - 1].gpu_ns;
}

static void between(double low, double value, double high) {
  if (!(low <= value && value <= high)) {
    fail_msg("%g is not between %g and %g", value, low, high);
  }
}

TEST(rates_are_those_of_a_gpu, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  const uint64_t bytes = 4 << 20;
  between(5, rate(fixture, batch(host, gpu, bytes >> 14, 1 << 14)), 6);
  between(31, rate(fixture, batch(host, gpu, bytes >> 15, 1 << 15)), 35);
  between(21, rate(fixture, batch(gpu, host, bytes >> 14, 1 << 14)), 25);
  between(5, rate(fixture, scattered(METHOD_CE, host, gpu, bytes >> 14, 1 << 14)), 7);
  between(46, rate(fixture, scattered(METHOD_CE, host, gpu, bytes >> 20, 1 << 20)), 52);
  between(50, rate(fixture, scattered(METHOD_SM, host, gpu, bytes >> 11, 1 << 11)), 53);
}

TEST(impossible_pieces_are_refused, struct fixture *fixture) {
  const struct endpoint host = fixture_node(0, MEMORY_PINNED);
  const struct endpoint gpu = fixture_gpu(0, MEMORY_DEVICE);
  struct flow flow = batch(host, gpu, 10, 10);
  const int32_t version = fixture->machine->driver_cuda_version;
  fixture->machine->driver_cuda_version = 12070;
  fixture_refuse(fixture, flow, "from CUDA 12.8 on; this one is of CUDA 12.7");
  fixture->machine->driver_cuda_version = version;
  flow.size_bytes++;
  fixture_refuse(fixture, flow, "pieces x piece_size");
  flow = batch(gpu, fixture_gpu(1, MEMORY_DEVICE), 10, 10);
  flow.staged = true;
  fixture_refuse(fixture, flow, "submit \"loop\" has");
  flow = scattered(METHOD_SM, host, gpu, 10, 12);
  flow.kernel.vector_bytes = 8;
  fixture_refuse(fixture, flow, "does not divide the pieces");
  flow.kernel = (struct kernel_shape){.variant = KERNEL_BULK};
  fixture_refuse(fixture, flow, "contiguous");
}

TEST_GROUP(fixture_set_up, fixture_tear_down);
