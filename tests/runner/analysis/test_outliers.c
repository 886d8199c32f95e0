/* Which link, GPU or host is slow; a machine without a fault reports nothing. */
#include "runner/analysis/outliers.h"
#include "tests/runner/analysis/made.h"
#include "tests/runner/statistics/numbers.h"

RELEASE(outliers_free, struct outliers)

enum { SIZES = 3 };

static struct outliers *found(const struct results *m) {
  struct outliers *outliers = NULL;
  struct error err = {0};
  if (outliers_find(m, &(struct outliers_options){0}, &outliers, &err) != STATUS_OK) {
    fail_msg("%s", err.message);
  }
  return outliers;
}

/* Every GPU of every host to the host, in three sizes; rate(host, gpu). */
static struct results *cluster(size_t hosts, double (*rate)(size_t host, int gpu)) {
  static const char *const KEYS[MADE_GPUS * SIZES] = {"a", "b", "c", "d", "e", "f",
                                                      "g", "h", "i", "j", "k", "l"};
  struct results *m = results_new();
  for (size_t h = 0; h < hosts; h++) {
    made_run(m, made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false));
  }
  for (size_t i = 0; i < MADE_GPUS * SIZES; i++) {
    const int gpu = (int)i % MADE_GPUS;
    const size_t bench = made_case(m, KEYS[i], "down", gpu, (1 + i / MADE_GPUS) << 20);
    for (size_t h = 0; h < hosts; h++) {
      made_medians(m, bench, h, rate(h, gpu), 3);
    }
  }
  return m;
}

static double all_equal(size_t host, int gpu) {
  return 50;
}

static double gpu_2_slow(size_t host, int gpu) {
  return host == 0 && gpu == 2 ? 45 : 50;
}

static double host_1_slow(size_t host, int gpu) {
  return host == 1 ? 45 : 50;
}

/* GPU 3 is the farthest from the host in every machine: in one it is slower still. */
static double gpu_3_far(size_t host, int gpu) {
  return (gpu == 3 ? 40 : 50) * (host == 5 && gpu == 3 ? 0.97 : 1);
}

static double gpu_3_far_everywhere(size_t host, int gpu) {
  return gpu_3_far(0, gpu);
}

/* "gpu10" before it is another GPU, and behind it. */
TEST(evidence_names_one_of_twelve_gpus) {
  enum { GPUS = 12 };
  SCOPED(results_free_at) struct results *m = results_new();
  made_run(m, made_machine(m, "n0", "580.1", false, GPUS));
  for (int i = 0; i < GPUS * SIZES; i++) {
    const size_t bench = made_case(m, arena_format(&m->arena, "%c", '0' + i), "down", i % GPUS,
                                   UINT64_C(1) << (20 + i / GPUS));
    made_medians(m, bench, 0, i % GPUS == 1 ? 45 : 50, 3);
  }
  struct results_condition conditions[] = {
      {.kind = CONDITION_SLOWED, .text = "gpu1 below its clock", .gpu = 1},
      {.kind = CONDITION_SLOWED, .text = "gpu10 hot", .gpu = 10},
  };
  m->conditions = conditions;
  m->condition_count = COUNT_OF(conditions);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->part_count, 1);
  assert_string_equal(outliers->parts[0].name, "gpu1's host link");
  assert_string_equal(outliers->parts[0].evidence, conditions[0].text);
}

TEST(equal_gpus_report_nothing) {
  SCOPED(results_free_at) struct results *m = cluster(1, all_equal);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  assert_int_equal(outliers->cases, MADE_GPUS * SIZES);
}

TEST(a_fleet_knows_what_is_usual_of_a_place) {
  struct results *m = cluster(12, gpu_3_far);
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->hosts, 12);
  assert_int_equal(outliers->slow_count, 1);
  assert_string_equal(outliers->rows[0].host, "n5");
  assert_string_equal(outliers->rows[0].name, "gpu3-numa0");
  assert_true(fabs(outliers->rows[0].change - -0.03) < 0.003);
  outliers_free(outliers);
  results_free(m);
  m = cluster(12, gpu_3_far_everywhere);
  outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  assert_int_equal(outliers->undecided_count, 0);
  outliers_free(outliers);
  results_free(m);
}

/* Each GPU has one link here: the link is named, once. */
TEST(a_slow_link_is_named_once) {
  SCOPED(results_free_at) struct results *m = cluster(1, gpu_2_slow);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 1);
  const struct outlier *row = &outliers->rows[0];
  assert_int_equal(row->entity, ENTITY_LINK);
  assert_string_equal(row->name, "gpu2-numa0");
  assert_string_equal(row->host, "n0");
  assert_string_equal(row->block, "down");
  assert_true(fabs(row->change - -0.1) < 0.003);
  assert_int_equal(row->state, OUTLIER_SLOW);
  assert_int_equal(row->role, ROLE_NONE);
  assert_string_equal(row->paths, "gpu2-numa0");
  assert_true(row->robust_z < -10);
  assert_int_equal(row->cases, SIZES);
  assert_int_equal(row->slow_cases, SIZES);
}

TEST(a_slow_host_explains_its_links) {
  SCOPED(results_free_at) struct results *m = cluster(4, host_1_slow);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 1);
  assert_int_equal(outliers->rows[0].entity, ENTITY_HOST);
  assert_string_equal(outliers->rows[0].name, "n1");
  assert_int_equal(outliers->rows[0].slow_cases, MADE_GPUS * SIZES);
}

/* ---- simulated machines ---- */

/* What is slow on one; -1 = nothing of the kind. */
struct fault {
  double share; /* of the rate that is left */
  int gpu;      /* between GPUs */
  bool source, target;
  int from, to; /* one path between GPUs */
  bool back;    /* and the way back */
  int host_gpu; /* from that GPU to the host */
  int local_gpu;
};

#define SLOW_GPU(share, gpu, source, target)                                                       \
  { share, gpu, source, target, -1, -1, false, -1, -1 }
#define SLOW_WAY(share, from, to, back)                                                            \
  { share, -1, false, false, from, to, back, -1, -1 }
#define SLOW_TO_HOST(share, gpu)                                                                   \
  { share, -1, false, false, -1, -1, false, gpu, -1 }
static const struct fault NOTHING = {1, -1, false, false, -1, -1, false, -1, -1};

enum { PROCESSES = 3, LARGE_SIZES = 2 };

static double factor_of(const struct fault *fault, int from, int to) {
  const bool forth = from == fault->from && to == fault->to;
  const bool back = fault->back && from == fault->to && to == fault->from;
  double factor = forth || back ? fault->share : 1;
  factor *= fault->gpu == from && fault->source ? fault->share : 1;
  return factor * (fault->gpu == to && fault->target ? fault->share : 1);
}

static size_t add_case(struct results *m, const char *block, int from, int to, bool to_gpu,
                       uint64_t size_bytes) {
  const char *key =
      arena_format(&m->arena, "%s-%d-%d-%llu", block, from, to, (unsigned long long)size_bytes);
  const size_t bench = made_case(m, key, block, from, size_bytes);
  struct results_flow flow = m->cases[bench].flows[0];
  flow.target_is_gpu = to_gpu;
  flow.target = to_gpu ? to : 0;
  flow.target_memory = to_gpu ? "device" : "pinned";
  made_flow(m, bench, flow);
  m->cases[bench].definition =
      arena_format(&m->arena, "{\"size_bytes\":%llu}", (unsigned long long)size_bytes);
  return bench;
}

/* Processes scatter by `between`; what is measured of a path has its own scatter of 0.1 %. */
static void add_noisy(struct results *m, size_t bench, double gbps, double between,
                      uint64_t *seed) {
  const double level = (double)m->cases[bench].units / gbps;
  const double own = 0.001 * noise_normal(seed);
  for (unsigned p = 0; p < PROCESSES; p++) {
    made_median(m, (struct results_median){
                       .run = 0,
                       .bench = (uint32_t)bench,
                       .process = 1 + p,
                       .ns = level * exp(own + between * noise_normal(seed)),
                   });
  }
}

/* One run, of nothing yet. */
static struct results *one_run(int gpus) {
  struct results *m = results_new();
  made_run(m, made_machine(m, "n0", "580.1", false, gpus));
  return m;
}

/* What one process measured of the way from a GPU to the host. */
static void add_process(struct results *m, int gpu, double gbps, double error) {
  const size_t bench = add_case(m, "down", gpu, 0, false, UINT64_C(64) << 20);
  made_median(m, (struct results_median){.bench = (uint32_t)bench,
                                         .process = 1,
                                         .ns = (double)m->cases[bench].units / gbps,
                                         .error = error});
}

/* Every ordered pair of GPUs, every GPU to the host and within itself, in two sizes. */
static struct results *machine_of(int gpus, const struct fault *fault, double between,
                                  uint64_t seed) {
  struct results *m = one_run(gpus);
  for (size_t s = 0; s < LARGE_SIZES; s++) {
    const uint64_t size_bytes = (uint64_t)(16 * (s + 1)) << 20;
    for (int from = 0; from < gpus; from++) {
      for (int to = 0; to < gpus; to++) {
        if (from != to) {
          add_noisy(m, add_case(m, "across", from, to, true, size_bytes),
                    390 * factor_of(fault, from, to), between, &seed);
        }
      }
      add_noisy(m, add_case(m, "down", from, 0, false, size_bytes),
                55 * (fault->host_gpu == from ? fault->share : 1), between, &seed);
      add_noisy(m, add_case(m, "within", from, from, true, size_bytes),
                2000 * (fault->local_gpu == from ? fault->share : 1), between, &seed);
    }
  }
  return m;
}

static const struct outlier *only_slow(const struct outliers *outliers) {
  if (outliers->slow_count != 1) {
    for (size_t i = 0; i < outliers->row_count && outliers->rows[i].state != OUTLIER_FINE; i++) {
      const struct outlier *row = &outliers->rows[i];
      print_error("%s %s %s %s %+.2f %% z %.1f\n", outlier_state_text(row->state), row->name,
                  outlier_role_text(row->role), row->block, 100 * row->change, row->robust_z);
    }
    fail_msg("%zu are slow, not one", outliers->slow_count);
  }
  return &outliers->rows[0];
}

enum { SEEDS = 25 };

/* The fault is found, alone, in every one of the machines. Their processes differ by 0.1 %, which
 * is more than between the GPUs of a real one and as much as on its way to the host. */
static void assert_found(int gpus, const struct fault *fault, enum entity entity,
                         enum outlier_role role, const char *name, const char *block) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    SCOPED(results_free_at) struct results *m = machine_of(gpus, fault, 0.001, seed);
    SCOPED(outliers_free_at) struct outliers *outliers = found(m);
    const struct outlier *row = only_slow(outliers);
    assert_string_equal(row->name, name);
    assert_string_equal(row->block, block);
    assert_int_equal(row->entity, entity);
    assert_int_equal(row->role, role);
    assert_true(fabs(row->change - (fault->share - 1)) < 0.01);
    assert_int_equal(row->sizes, SIZES_LARGE);
    assert_true(row->slow_cases > 0 && row->slow_cases <= row->cases);
    assert_non_null(row->paths);
  }
}

TEST(each_fault_is_found_alone) {
  static const struct {
    struct fault fault;
    enum entity entity;
    enum outlier_role role;
    const char *name, *block;
  } CASES[] = {
      {SLOW_GPU(0.97, 2, true, true), ENTITY_GPU, ROLE_BOTH, "gpu2", "across"},
      {SLOW_GPU(0.97, 0, true, true), ENTITY_GPU, ROLE_BOTH, "gpu0", "across"},
      {SLOW_GPU(0.97, 1, false, true), ENTITY_GPU, ROLE_TARGET, "gpu1", "across"},
      {SLOW_GPU(0.97, 1, true, false), ENTITY_GPU, ROLE_SOURCE, "gpu1", "across"},
      {SLOW_WAY(0.97, 0, 3, false), ENTITY_LINK, ROLE_NONE, "gpu0-gpu3", "across"},
      {SLOW_WAY(0.97, 0, 3, true), ENTITY_LINK, ROLE_BOTH, "gpu0-gpu3", "across"},
      {SLOW_TO_HOST(0.97, 3), ENTITY_LINK, ROLE_NONE, "gpu3-numa0", "down"},
      {{0.97, -1, false, false, -1, -1, false, -1, 1}, ENTITY_GPU, ROLE_LOCAL, "gpu1", "within"},
  };
  for (size_t i = 0; i < COUNT_OF(CASES); i++) {
    for (int gpus = 4; gpus <= 8; gpus += 4) {
      assert_found(gpus, &CASES[i].fault, CASES[i].entity, CASES[i].role, CASES[i].name,
                   CASES[i].block);
    }
  }
}

TEST(a_slow_gpu_has_both_directions_and_its_paths) {
  static const struct fault fault = SLOW_GPU(0.97, 0, true, true);
  SCOPED(results_free_at) struct results *m = machine_of(4, &fault, 0, 1);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  const struct outlier *row = only_slow(outliers);
  assert_true(fabs(row->source_change - -0.03) < 0.003);
  assert_true(fabs(row->target_change - -0.03) < 0.003);
  assert_string_equal(row->paths,
                      "gpu0-gpu1, gpu0-gpu2, gpu0-gpu3, gpu1-gpu0, gpu2-gpu0, gpu3-gpu0");
  assert_int_equal(row->cases, 12); /* six paths, two sizes */
  assert_int_equal(row->slow_cases, 12);
  assert_string_equal(row->uuid, "GPU-n0-0");
}

/* Machines without a fault, quiet to wild: eight sets are judged in each (sources, targets, links,
 * the host's links and GPUs, the memories), each with one false positive in a hundred at most.
 * Values that scatter fall into halves with a gap between them only by a rare accident. */
TEST(false_reported_are_rare) {
  static const int GPUS[] = {4, 8};
  static const double BETWEEN[] = {0.001, 0.004, 0.015, 0.04};
  enum { MACHINES = 200 };
  for (size_t g = 0; g < COUNT_OF(GPUS); g++) {
    for (size_t b = 0; b < COUNT_OF(BETWEEN); b++) {
      size_t reported = 0;
      size_t halves = 0;
      for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        SCOPED(results_free_at)
        struct results *m = machine_of(GPUS[g], &NOTHING, BETWEEN[b], seed);
        SCOPED(outliers_free_at) struct outliers *outliers = found(m);
        reported += outliers->slow_count > 0;
        halves += outliers->undecided_count > 0;
      }
      assert_true(reported <= MACHINES / 50);
      assert_true(halves <= MACHINES / 50);
    }
  }
}

/* One process of the way from every GPU to the host; of gpu0 with that share of its rate and that
 * error, of the others with one of 0.1 %. */
static struct results *one_process(double share, double error, uint64_t seed) {
  struct results *m = one_run(4);
  for (int gpu = 0; gpu < 4; gpu++) {
    const double own = gpu == 0 ? error : 0.001;
    add_process(m, gpu, 55 * (gpu == 0 ? share : 1) * exp(own * noise_normal(&seed)), own);
  }
  return m;
}

/* What its own trials do not tell to a few per cent is not slower by a few per cent. */
TEST(a_process_is_no_surer_than_its_trials) {
  enum { TIMES = 200 };
  static const struct {
    double share, error;
    int most, least; /* of TIMES that find it slow */
  } WORLDS[] = {{1, 0.03, TIMES / 25, 0}, {0.93, 0.001, TIMES, TIMES}, {0.94, 0.03, TIMES / 5, 0}};
  for (size_t w = 0; w < COUNT_OF(WORLDS); w++) {
    int slow = 0;
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
      SCOPED(results_free_at)
      struct results *m = one_process(WORLDS[w].share, WORLDS[w].error, seed);
      SCOPED(outliers_free_at) struct outliers *outliers = found(m);
      slow += outliers->slow_count > 0;
    }
    assert_in_range(slow, WORLDS[w].least, WORLDS[w].most);
  }
}

/* ---- kinds of memory, single results ---- */

/* Every GPU to the host: a pinned copy and a pageable one of that share of its rate. */
static struct results *two_memories(double pinned_share, uint64_t seed) {
  struct results *m = one_run(4);
  static const char *const MEMORIES[] = {"pinned", "pageable"};
  for (size_t k = 0; k < 2; k++) {
    for (int gpu = 0; gpu < 4; gpu++) {
      const size_t bench = add_case(m, "down", gpu, 0, false, (uint64_t)(64 + k) << 20);
      struct results_flow flow = m->cases[bench].flows[0];
      flow.target_memory = MEMORIES[k];
      made_flow(m, bench, flow);
      m->cases[bench].size_bytes = UINT64_C(64) << 20;
      add_noisy(m, bench, k == 0 ? 55 * (gpu == 1 ? pinned_share : 1) : 11, 0.001, &seed);
    }
  }
  return m;
}

/* What does not depend on the link says nothing of the link. */
TEST(a_link_is_slow_for_one_memory_only) {
  static const double SHARES[] = {0.97, 0.6, 0.5};
  for (size_t s = 0; s < COUNT_OF(SHARES); s++) {
    SCOPED(results_free_at) struct results *m = two_memories(SHARES[s], 1 + s);
    SCOPED(outliers_free_at) struct outliers *outliers = found(m);
    const struct outlier *row = only_slow(outliers);
    assert_string_equal(row->name, "gpu1-numa0");
    assert_string_equal(row->memory, "device to pinned");
    assert_int_equal(row->entity, ENTITY_LINK);
    assert_true(fabs(row->change - (SHARES[s] - 1)) < 0.005);
    assert_int_equal(row->cases, 1);
    assert_int_equal(row->slow_cases, 1);
    assert_false(row->single);
  }
}

/* Two sizes of the way to the host; of the last GPU they have those shares of their rate. */
static struct results *sizes_slow(int gpus, double small, double large, uint64_t seed) {
  struct results *m = one_run(gpus);
  for (uint64_t s = 1; s <= 2; s++) {
    for (int gpu = 0; gpu < gpus; gpu++) {
      const double share = gpu < gpus - 1 ? 1 : s == 1 ? small : large;
      add_noisy(m, add_case(m, "down", gpu, 0, false, (16 * s) << 20), 55 * share, 0.001, &seed);
    }
  }
  return m;
}

TEST(one_result_far_outside_is_named_by_itself) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct results *m = sizes_slow(4, 1, 0.6, seed);
    struct outliers *outliers = found(m);
    const struct outlier *row = only_slow(outliers);
    assert_string_equal(row->name, "gpu3-numa0");
    assert_true(row->single);
    assert_true(fabs(row->change - -0.4) < 0.01);
    assert_true(m->cases[row->worst].size_bytes == UINT64_C(32) << 20);
    assert_int_equal(row->slow_cases, 1);
    assert_int_equal(row->cases, 2);
    outliers_free(outliers);
    results_free(m);
    /* Of two nobody can tell, as ever. */
    m = sizes_slow(2, 1, 0.6, seed);
    outliers = found(m);
    assert_int_equal(outliers->slow_count, 0);
    assert_int_equal(outliers->undecided_count, 1);
    assert_string_equal(outliers->rows[0].name, "gpu1-numa0");
    outliers_free(outliers);
    results_free(m);
  }
}

/* Less than that is no finding, but is not said to be nothing either. */
TEST(one_result_a_little_outside_is_counted) {
  SCOPED(results_free_at) struct results *m = sizes_slow(4, 1, 0.97, 1);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  bool seen = false;
  for (size_t i = 0; i < outliers->row_count; i++) {
    const struct outlier *row = &outliers->rows[i];
    if (row->entity == ENTITY_LINK && strcmp(row->name, "gpu3-numa0") == 0) {
      seen = true;
      assert_int_equal(row->slow_cases, 1);
      assert_int_equal(row->cases, 2);
      assert_true(fabs(row->worst_change - -0.03) < 0.005);
    }
  }
  assert_true(seen);
}

/* ---- too few to tell ---- */

TEST(of_two_the_slower_is_undecided) {
  static const struct fault TO_HOST = SLOW_TO_HOST(0.97, 1);
  static const struct fault BETWEEN = SLOW_WAY(0.97, 1, 0, false);
  struct results *m = machine_of(2, &TO_HOST, 0.001, 1);
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  assert_int_equal(outliers->cases, 0);
  assert_int_equal(outliers->without_peers, m->case_count);
  assert_int_equal(outliers->undecided_count, 1);
  const struct outlier *row = &outliers->rows[0];
  assert_int_equal(row->state, OUTLIER_UNDECIDED);
  assert_string_equal(row->name, "gpu1-numa0");
  assert_true(fabs(row->change - -0.03) < 0.005);
  assert_int_equal(m->cases[row->other].flows[0].source, 0);
  outliers_free(outliers);
  results_free(m);
  /* A way between two GPUs that is slower than its way back. */
  m = machine_of(2, &BETWEEN, 0.001, 2);
  outliers = found(m);
  assert_int_equal(outliers->undecided_count, 1);
  assert_string_equal(outliers->rows[0].name, "gpu1-gpu0");
  outliers_free(outliers);
  results_free(m);
  m = machine_of(2, &NOTHING, 0.001, 3);
  outliers = found(m);
  assert_int_equal(outliers->row_count, 0);
  outliers_free(outliers);
  results_free(m);
}

/* A table of three GPUs is too small to be fitted: a link is found, and that a GPU cannot be is
 * said. */
TEST(three_gpus_tell_links_and_say_so) {
  static const struct fault LINK = SLOW_WAY(0.97, 0, 2, false);
  static const struct fault SOURCE = SLOW_GPU(0.97, 1, true, false);
  struct results *m = machine_of(3, &LINK, 0.001, 1);
  struct outliers *outliers = found(m);
  const struct outlier *row = only_slow(outliers);
  assert_string_equal(row->name, "gpu0-gpu2");
  assert_int_equal(outliers->small_tables, LARGE_SIZES);
  outliers_free(outliers);
  results_free(m);
  /* Its two ways out are a third of all: as source it is found. */
  m = machine_of(3, &SOURCE, 0.001, 1);
  outliers = found(m);
  row = only_slow(outliers);
  assert_string_equal(row->name, "gpu1");
  assert_int_equal(row->role, ROLE_SOURCE);
  assert_string_equal(row->paths, "gpu1-gpu0, gpu1-gpu2");
  outliers_free(outliers);
  results_free(m);
}

/* ---- halves, host links, latencies, time ---- */

static double upper_half_slow(size_t host, int gpu) {
  return gpu >= 2 ? 47.5 : 50;
}

/* The median of two fast and two slow ones is nobody's value. */
TEST(two_halves_that_disagree_are_said) {
  SCOPED(results_free_at) struct results *m = cluster(1, upper_half_slow);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  assert_int_equal(outliers->undecided_count, 1);
  assert_int_equal(outliers->verdict_count, 1);
  const struct outlier *row = &outliers->rows[0];
  assert_int_equal(row->state, OUTLIER_UNDECIDED);
  assert_string_equal(row->name, "gpu2,gpu3");
  assert_string_equal(row->rivals, "gpu0,gpu1");
  assert_int_equal(row->entity, ENTITY_GPU);
  assert_int_equal(row->cases, 2 * SIZES);
  assert_true(fabs(row->change - -0.05) < 0.003);
  assert_string_equal(outliers->verdicts[0].rivals, "gpu0,gpu1");
  assert_string_equal(outliers->verdicts[0].blocks, "down");
}

static double second_host_slow(size_t host, int gpu) {
  (void)gpu;
  return host == 1 ? 47.5 : 50;
}

TEST(halves_of_two_hosts_are_lists_of_words) {
  SCOPED(results_free_at) struct results *m = cluster(2, second_host_slow);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->verdict_count, 1);
  assert_string_equal(outliers->verdicts[0].rivals,
                      "gpu0 of n0, gpu1 of n0, gpu2 of n0, gpu3 of n0");
}

/* One process of each GPU, two of them 5 % slower: said where their trials are surer than that. */
TEST(halves_are_no_surer_than_their_trials) {
  static const double ERRORS[] = {0.001, 0.03};
  for (size_t e = 0; e < COUNT_OF(ERRORS); e++) {
    SCOPED(results_free_at) struct results *m = one_run(4);
    for (int gpu = 0; gpu < 4; gpu++) {
      add_process(m, gpu, 55 * (gpu < 2 ? 1 : 0.95) * (gpu % 2 == 0 ? 1 : 1.001), ERRORS[e]);
    }
    SCOPED(outliers_free_at) struct outliers *outliers = found(m);
    assert_int_equal(outliers->undecided_count, ERRORS[e] < 0.01);
    assert_int_equal(outliers->slow_count, 0);
  }
}

/* A run of the paths of one GPU alone: as a target it is slow, and these three links need no word.
 */
TEST(a_half_that_a_slow_gpu_explains_is_not_said) {
  SCOPED(results_free_at) struct results *m = one_run(4);
  uint64_t seed = 5;
  for (int gpu = 0; gpu < 3; gpu++) {
    add_noisy(m, add_case(m, "peer", 3, gpu, true, UINT64_C(64) << 20), 390, 0.001, &seed);
  }
  for (int gpu = 0; gpu < 3; gpu++) {
    add_noisy(m, add_case(m, "peer", gpu, 3, true, UINT64_C(64) << 20), 300, 0.001, &seed);
  }
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 1);
  assert_string_equal(outliers->rows[0].name, "gpu3");
  assert_int_equal(outliers->rows[0].role, ROLE_TARGET);
  assert_int_equal(outliers->undecided_count, 0);
  assert_int_equal(outliers->verdict_count, 1);
}

/* Of a way that is a little slow in one size and very slow in another both are said. */
TEST(a_verdict_has_the_worst_case) {
  SCOPED(results_free_at) struct results *m = sizes_slow(4, 0.97, 0.54, 3);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->verdict_count, 1);
  assert_int_equal(outliers->verdicts[0].host_link, 3);
  assert_true(fabs(outliers->verdicts[0].change - -0.46) < 0.01);
  assert_true(fabs(outliers->verdicts[0].least - -0.03) < 0.01);
}

TEST(a_slow_way_to_the_host_is_named) {
  static const struct fault fault = SLOW_TO_HOST(0.95, 2);
  SCOPED(results_free_at) struct results *m = machine_of(4, &fault, 0.001, 7);
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  assert_int_equal(outliers->verdict_count, 1);
  const struct outlier_verdict *verdict = &outliers->verdicts[0];
  assert_string_equal(verdict->name, "gpu2's host link");
  assert_int_equal(verdict->direction, ROLE_SOURCE);
  assert_int_equal(verdict->host_link, 2);
  assert_true(fabs(verdict->change - -0.05) < 0.01);
  assert_int_equal(only_slow(outliers)->host_link, 2);
}

/* A chase of GPU 1 through the host's memory is "gpu1-numa0" in the name of its case. */
TEST(a_slow_latency_is_named_as_its_case) {
  SCOPED(results_free_at) struct results *m = one_run(4);
  for (int gpu = 0; gpu < 4; gpu++) {
    const size_t bench = add_case(m, "latency", gpu, 0, false, 4096);
    made_flow(
        m, bench,
        (struct results_flow){
            .target_is_gpu = true, .target = gpu, .source_memory = "pinned", .target_memory = ""});
    m->cases[bench].figure = FIGURE_HOP;
    made_medians(m, bench, 0, gpu == 1 ? 0.8 : 1, 3);
  }
  SCOPED(outliers_free_at) struct outliers *outliers = found(m);
  const struct outlier *row = only_slow(outliers);
  assert_string_equal(row->name, "gpu1-numa0");
  assert_string_equal(outliers->verdicts[0].name, "gpu1's host link");
}

/* Months without a fault do not hide the one of today. */
TEST(the_latest_run_counts_where_it_is_asked_for) {
  enum { RUNS = 5 };
  SCOPED(results_free_at) struct results *m = results_new();
  const size_t node = made_machine(m, "n0", "580.1", false, 4);
  for (size_t r = 0; r < RUNS; r++) {
    made_run(m, node);
  }
  for (int gpu = 0; gpu < 4; gpu++) {
    const size_t bench = add_case(m, "down", gpu, 0, false, 16 << 20);
    for (size_t r = 0; r < RUNS; r++) {
      made_medians(m, bench, r, gpu == 3 && r == RUNS - 1 ? 45 : 50, 3);
    }
  }
  struct outliers *outliers = found(m);
  assert_int_equal(outliers->slow_count, 0);
  outliers_free(outliers);
  assert_int_equal(
      outliers_find(m, &(struct outliers_options){.latest_only = true}, &outliers, err), STATUS_OK);
  assert_string_equal(only_slow(outliers)->name, "gpu3-numa0");
  outliers_free(outliers);
}

TEST(simulated_and_real_are_not_mixed) {
  SCOPED(results_free_at) struct results *m = results_new();
  made_run(m, made_environment(m, "n0", "580.1", false));
  made_run(m, made_environment(m, "n1", "580.1", true));
  struct outliers *outliers = NULL;
  assert_fails(outliers_find(m, &(struct outliers_options){0}, &outliers, err), STATUS_INVALID, err,
               "simulated");
}
