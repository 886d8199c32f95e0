/* Which nodes of a fleet became slower. */
#include "runner/analysis/compare_runs.h"
#include "runner/analysis/outliers.h"
#include "tests/runner/analysis/made.h"

RELEASE(outliers_free, struct outliers)
RELEASE(comparison_free, struct comparison)

enum { MIB = 1 << 20, HOSTS = 10, SIZES = 3, CASES = MADE_GPUS * SIZES };
static const char *const KEYS[CASES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

/* Ten nodes, of which so many are 5 % slower in B: each is certain, for what the others of them do
 * is no noise of the rest; of most as well. */
static void check_slow(size_t slow) {
  enum side sides[2 * HOSTS];
  SCOPED(results_free_at) struct results *m = results_new();
  for (size_t h = 0; h < HOSTS; h++) {
    const size_t at = made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false);
    sides[made_run(m, at)] = SIDE_A;
    sides[made_run(m, at)] = SIDE_B;
  }
  for (size_t i = 0; i < CASES; i++) {
    const size_t bench = made_case(m, KEYS[i], "down", (int)i % MADE_GPUS, (1 + i / 4) << 20);
    for (size_t run = 0; run < 2 * HOSTS; run++) {
      made_medians(m, bench, run, run < 2 * slow && sides[run] == SIDE_B ? 47.5 : 50, 3);
    }
  }
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  struct error err = {0};
  const struct outliers_options options = {.sides = sides, .changes = true};
  assert_int_equal(outliers_find(m, &options, &outliers, &err), STATUS_OK);
  assert_int_equal(outliers->part_count, slow);
  for (size_t i = 0; i < slow; i++) {
    assert_string_equal(outliers->parts[i].name, outliers->parts[i].host);
    assert_true(outliers->parts[i].certain);
    assert_int_equal(outliers->parts[i].slow_cases, CASES);
  }
}

TEST(several_nodes_that_changed_are_certain) {
  check_slow(0);
  check_slow(2);
  check_slow(4);
}

TEST(most_nodes_that_changed_are_certain) {
  check_slow(6);
  check_slow(8);
}

/* Nodes of which the last is 5 % slower in one of the cases of a GPU. */
static bool is_row(size_t nodes, size_t slow) {
  static const struct compare_options compare_options = {
      .diff = {.method = DIFF_MODERATED, .false_discovery_rate = 0.05}};
  enum side sides[2 * HOSTS];
  SCOPED(results_free_at) struct results *m = results_new();
  for (size_t h = 0; h < nodes; h++) {
    const size_t at = made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false);
    sides[made_run(m, at)] = SIDE_A;
    sides[made_run(m, at)] = SIDE_B;
  }
  for (size_t i = 0; i < slow * MADE_GPUS; i++) {
    const size_t bench = made_case(m, KEYS[i], "down", (int)i % MADE_GPUS, (1 + i / 4) << 20);
    for (size_t run = 0; run < 2 * nodes; run++) {
      made_medians(m, bench, run, run + 1 == 2 * nodes && i % MADE_GPUS == 1 ? 47.5 : 50, 3);
    }
  }
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  SCOPED(comparison_free_at) struct comparison *comparison = NULL;
  struct error err = {0};
  const struct outliers_options options = {.sides = sides, .changes = true};
  assert_int_equal(outliers_find(m, &options, &outliers, &err), STATUS_OK);
  assert_int_equal(compare(m, sides, &compare_options, &comparison, &err), STATUS_OK);
  assert_int_equal(outliers->part_count, 1);
  assert_int_equal(outliers->parts[0].slow_cases, slow);
  return compare_part_is_row(comparison, &outliers->parts[0]);
}

/* It is no second finding, but where one row is of all nodes. */
TEST(a_part_of_one_case_is_the_row_of_its_node) {
  assert_true(is_row(3, 1));
  assert_false(is_row(3, 2));
  assert_false(is_row(HOSTS, 1));
}

/* A path between GPUs on all nodes, with the rate of the fourth; else 50. */
static void add_path(struct results *m, const char *key, int from, int to, double gbps) {
  const size_t bench = made_case(m, key, "peer", from, MIB);
  made_flow(m, bench,
            (struct results_flow){.source_is_gpu = true,
                                  .source = from,
                                  .source_memory = "device",
                                  .target_is_gpu = true,
                                  .target = to,
                                  .target_memory = "device"});
  for (size_t run = 0; run < HOSTS; run++) {
    made_medians(m, bench, run, run == 3 ? gbps : 50, 3);
  }
}

/* Ten nodes of two GPUs, of which one is slow: all that its node does between them is, too, and the
 * node is not blamed. Each case counts once. */
TEST(a_slow_gpu_is_not_its_node) {
  SCOPED(results_free_at) struct results *m = results_new();
  for (size_t h = 0; h < HOSTS; h++) {
    made_run(m, made_machine(m, arena_format(&m->arena, "n%zu", h), "580.1", false, 2));
  }
  for (size_t i = 0; i < CASES; i++) {
    const int gpu = (int)i % 2;
    const size_t bench =
        made_case(m, KEYS[i], i < CASES / 2 ? "down" : "up", gpu, (uint64_t)MIB << i / 2);
    if (i >= CASES / 2) {
      made_flow(m, bench,
                (struct results_flow){.target_is_gpu = true,
                                      .target = gpu,
                                      .source_memory = "pinned",
                                      .target_memory = "device"});
    }
    for (size_t run = 0; run < HOSTS; run++) {
      made_medians(m, bench, run, run == 3 && gpu == 1 ? 40 : 50, 3);
    }
  }
  add_path(m, "x", 0, 1, 40);
  add_path(m, "y", 1, 0, 40);
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  assert_int_equal(outliers_find(m, &(struct outliers_options){0}, &outliers, err), STATUS_OK);
  assert_int_equal(outliers->part_count, 1);
  assert_string_equal(outliers->parts[0].host, "n3");
  assert_int_equal(outliers->parts[0].gpus, 2);
  assert_int_equal(outliers->parts[0].cases, CASES / 2);
  assert_int_equal(outliers->parts[0].slow_cases, CASES / 2);
}

/* A GPU of a fast node that is 1.2 % slower than the node's others, and as fast as usual: on no
 * other node is its place faster by what matters. */
TEST(a_gpu_is_not_slow_without_a_slow_result) {
  SCOPED(results_free_at) struct results *m = results_new();
  for (size_t h = 0; h < HOSTS; h++) {
    made_run(m, made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false));
  }
  for (int from = 0; from < 4; from++) {
    for (int to = 0; to < 4; to++) {
      if (from != to) {
        add_path(m, arena_format(&m->arena, "p%d%d", from, to), from, to, from == 1 ? 49.7 : 50.35);
      }
    }
  }
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  assert_int_equal(outliers_find(m, &(struct outliers_options){.slow_only = true}, &outliers, err),
                   STATUS_OK);
  assert_int_equal(outliers->part_count, 0);
}

enum { SIXTY = 60 };

static struct results *sixty_nodes(void) {
  struct results *m = results_new();
  for (size_t h = 0; h < SIXTY; h++) {
    made_run(m, made_environment(m, arena_format(&m->arena, "n%zu", h), "580.1", false));
  }
  return m;
}

/* Case i, of the GPU that its number gives. */
static size_t add_case(struct results *m, size_t i, const char *block) {
  return made_case(m, arena_format(&m->arena, "%02zu", i), block, (int)i % MADE_GPUS,
                   UINT64_C(1) << 26);
}

/* Of the node that is so far up: about normal, by 0.5 %. */
static double differs_by(size_t rank) {
  const double place = (double)(rank % SIXTY) + 0.5;
  return 0.005 * 0.55 * log(place / (SIXTY - place));
}

/* Sixty nodes differ by 0.5 %, otherwise in each of four blocks, of which one block alone does not
 * tell that a node is 1.7 % slower: together they do. A node that is faster in three of them is not
 * slow. */
TEST(blocks_tell_of_a_node_together) {
  enum { BLOCKS = 4, ODD = 17 };
  static const char *const NAMES[BLOCKS] = {"a", "b", "c", "d"};
  static const size_t STEPS[BLOCKS] = {7, 11, 13, 17};
  SCOPED(results_free_at) struct results *m = sixty_nodes();
  for (size_t i = 0; i < BLOCKS * MADE_GPUS; i++) {
    const size_t block = i / MADE_GPUS;
    const size_t bench = add_case(m, i, NAMES[block]);
    for (size_t h = 0; h < SIXTY; h++) {
      const double differs = differs_by(h * STEPS[block] + 20 * block);
      const double change = h == ODD       ? -0.017
                            : h == ODD + 1 ? (block == 0 ? -0.017 : 0.01)
                                           : differs;
      made_medians(m, bench, h, 50 * exp(change), 3);
    }
  }
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  assert_int_equal(outliers_find(m, &(struct outliers_options){.slow_only = true}, &outliers, err),
                   STATUS_OK);
  assert_int_equal(outliers->part_count, 1);
  assert_string_equal(outliers->parts[0].name, "n17");
  assert_int_equal(outliers->parts[0].slow_cases, BLOCKS * MADE_GPUS);
}

/* Block "a" tells the same as "c" with three times as much of what differs between nodes: "c"
 * counts alone. That two sound nodes have "b" changes nothing. */
TEST(the_block_that_tells_most_counts_first) {
  enum { BLOCKS = 3, ODD = 17, SMALL = 1, SMALL_NODES = 3 };
  static const char *const NAMES[BLOCKS] = {"a", "b", "c"};
  static const double NOISE[BLOCKS] = {3, 0, 1};
  SCOPED(results_free_at) struct results *m = sixty_nodes();
  for (size_t i = 0; i < BLOCKS * MADE_GPUS; i++) {
    const size_t block = i / MADE_GPUS;
    const size_t bench = add_case(m, i, NAMES[block]);
    for (size_t h = 0; h < (block == SMALL ? SMALL_NODES : SIXTY); h++) {
      const double differs = differs_by(h * 7);
      const double change = block == SMALL ? (h == 0 ? -0.05 : 0)
                            : h == ODD     ? -0.019
                                           : NOISE[block] * differs;
      made_medians(m, bench, h, 50 * exp(change), 3);
    }
  }
  SCOPED(outliers_free_at) struct outliers *outliers = NULL;
  assert_int_equal(outliers_find(m, &(struct outliers_options){.slow_only = true}, &outliers, err),
                   STATUS_OK);
  assert_int_equal(outliers->part_count, 2);
  assert_string_equal(outliers->parts[0].name, "n0");
  assert_string_equal(outliers->parts[1].name, "n17");
  assert_int_equal(outliers->parts[1].slow_cases, 2 * MADE_GPUS);
}
